#include "processes/disk/result_file.h"

#include <algorithm>
#include <boost/json.hpp>
#include <memory>
#include <optional>
#include <string>

#include "shim/format/attempt_files.h"
#include "shim/protocol.h"

namespace perdure {
namespace {

namespace json = boost::json;

std::string text_in(const json::object& members, std::string_view name) {
    const auto* value = members.if_contains(name);
    const auto* text = value ? value->if_string() : nullptr;
    return text ? std::string(text->begin(), text->end()) : std::string();
}

std::optional<std::int64_t> number_of(const json::object& members, std::string_view name) {
    const auto* value = members.if_contains(name);
    if (!value) return std::nullopt;
    boost::system::error_code failed;
    const auto number = value->to_number<std::int64_t>(failed);
    if (failed) return std::nullopt;
    return number;
}

bool flag_in(const json::object& members, std::string_view name) {
    const auto* value = members.if_contains(name);
    const auto* flag = value ? value->if_bool() : nullptr;
    return flag && *flag;
}

std::optional<Ran> ran_named(std::string_view name) {
    for (const auto ran : {Ran::no, Ran::maybe, Ran::yes})
        if (to_string(ran) == name) return ran;
    return std::nullopt;
}

// What is not UTF-8 has become three bytes in the file. A server refuses a text that is too long,
// and everything that is reported with it: the end is kept, from a whole character on.
std::string end_of(std::string text, std::size_t max) {
    if (text.size() <= max) return text;
    auto from = text.size() - max;
    while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80) ++from;
    return text.substr(from);
}

// The same from the front.
std::string front_of(std::string text, std::size_t max) {
    if (text.size() <= max) return text;
    auto size = max;
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
    text.resize(size);
    return text;
}

EvidenceRef evidence_in(const json::object& members) {
    auto evidence = std::make_shared<Evidence>();
    const auto counter = [&](const char* name) {
        return std::max<std::int64_t>(0, number_of(members, name).value_or(0));
    };
    evidence->result = text_in(members, "result");
    evidence->detail = front_of(text_in(members, "detail"), detail_max);
    evidence->last_lines = end_of(text_in(members, "last_lines"), last_lines_max);
    evidence->host = text_in(members, "host");
    evidence->peak_memory = static_cast<std::uint64_t>(counter("peak_memory"));
    evidence->output_cut = static_cast<std::uint64_t>(counter("output_cut"));
    evidence->ran_for = microseconds(counter("ran_for_us"));
    // More would be refused, and the end with it.
    const auto cpu = [&](const char* name) {
        return std::min(microseconds(counter(name)), cpu_time_max);
    };
    evidence->usage = {.cpu_user = cpu("cpu_user_us"),
                       .cpu_system = cpu("cpu_system_us"),
                       .read_bytes = static_cast<std::uint64_t>(counter("read_bytes")),
                       .write_bytes = static_cast<std::uint64_t>(counter("write_bytes"))};
    return evidence;
}

}  // namespace

Result<ReadResult> parse_result(std::string_view text) {
    boost::system::error_code failed;
    const auto value = json::parse(json::string_view(text.data(), text.size()), failed);
    const auto* members = failed ? nullptr : value.if_object();
    if (!members) return error(Errc::corrupt, "result.json: cut short or no JSON object");
    if (number_of(*members, "version") != attempt_files::result_version)
        return error(Errc::corrupt, "result.json: of a version that is not known");
    const auto cause = cause_named(text_in(*members, "cause"));
    const auto ran = ran_named(text_in(*members, "ran"));
    if (!cause || !ran) return error(Errc::corrupt, "result.json: cause or ran is not known");

    ReadResult read;
    read.end.cause = *cause;
    read.end.ran = *ran;
    read.end.succeeded = flag_in(*members, "succeeded");
    read.end.clean = flag_in(*members, "clean");
    read.end.reported = true;
    read.end.exit_code = static_cast<std::int32_t>(number_of(*members, "exit_code").value_or(0));
    if (const auto at = number_of(*members, "at_us")) read.end.at = WallTime{*at};
    // A server would refuse it again and again.
    if (const auto wrong = find_contradiction(read.end))
        return error(Errc::corrupt,
                     "result.json: " + std::string(wrong->field) + " " + std::string(wrong->what));
    read.evidence = evidence_in(*members);
    return read;
}

}  // namespace perdure
