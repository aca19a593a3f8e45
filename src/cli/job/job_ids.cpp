#include "cli/job/job_ids.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "base/id.h"
#include "cli/answer.h"

namespace perdure::cli {
namespace {

constexpr std::string_view last_word = "@last";
constexpr std::size_t id_length = 13;
constexpr std::size_t beginning_least = 4;
constexpr int pages_most = 20;  // of the search; a page may be empty

// As the alphabet of ids is read aloud and written down. Empty: this is no beginning of an id.
std::string canonical(const std::string& given) {
    std::string made;
    for (char c : given) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (c == 'o') c = '0';
        if (c == 'i' || c == 'l') c = '1';
        made += c;
    }
    const auto filled = made + std::string(id_length - std::min(id_length, made.size()), '0');
    return JobId::parse(filled) ? made : "";
}

// Those that begin so, two at most: newest first, from behind the last that could.
Result<std::vector<std::string>> jobs_that_begin(Context& context, const std::string& beginning) {
    const auto highest = JobId::parse(beginning + std::string(id_length - beginning.size(), 'z'));
    std::string before;
    if (highest && highest->value < static_cast<std::uint64_t>(INT64_MAX))
        before = JobId{highest->value + 1}.text();
    std::vector<std::string> found;
    for (int page = 0; page < pages_most; ++page) {
        const auto answer = context.api.request(
            {.target = "/v1/jobs?limit=2" + (before.empty() ? "" : "&before=" + before)});
        if (!answer) return answer.error();
        if (!answer->ok()) return answer->refusal;
        for (const auto& job : list_of(answer->body, "jobs")) {
            auto id = text_of(job, "id");
            if (!id.starts_with(beginning)) return found;
            found.push_back(std::move(id));
            if (found.size() == 2) return found;
        }
        if (!has(answer->body, "next")) break;
        before = text_of(answer->body, "next");
        if (before < beginning) break;
    }
    return found;
}

}  // namespace

Result<std::string> whole_id(Context& context, const std::string& given) {
    if (given == last_word) {
        auto last = context.system.last_job();
        if (last.empty())
            return error(Errc::not_found,
                         "@last: this account has submitted no job from here yet; perdure jobs "
                         "lists all");
        return last;
    }
    auto beginning = canonical(given);
    if (beginning.empty() || beginning.size() > id_length) return given;
    if (beginning.size() == id_length) return beginning;
    if (beginning.size() < beginning_least)
        return error(Errc::invalid,
                     fmt::format("\"{}\" is too short for the beginning of an id: at least {} "
                                 "characters",
                                 given, beginning_least));
    const auto found = jobs_that_begin(context, beginning);
    if (!found) return found.error();
    if (found->empty())
        return error(Errc::not_found,
                     fmt::format("no job begins with {}; perdure jobs lists them", given));
    if (found->size() > 1)
        return error(Errc::invalid, fmt::format("several jobs begin with {}, among them {} and {}",
                                                given, (*found)[0], (*found)[1]));
    return found->front();
}

Result<void> complete_ids(Context& context, Args& args) {
    if (const auto ids = args.values.find("id"); ids != args.values.end())
        for (auto& id : ids->second) {
            auto whole = whole_id(context, id);
            if (!whole) return whole.error();
            id = std::move(*whole);
        }
    const auto after = args.values.find("after");
    if (after == args.values.end()) return {};
    for (auto& text : after->second) {
        const auto colon = std::min(text.find(':'), text.size());
        auto whole = whole_id(context, text.substr(0, colon));
        if (!whole) return whole.error();
        text = *whole + text.substr(colon);
    }
    return {};
}

}  // namespace perdure::cli
