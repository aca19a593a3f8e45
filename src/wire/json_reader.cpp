#include "wire/json_reader.h"

#include <fmt/format.h>

#include <array>
#include <boost/json/parser.hpp>
#include <cmath>
#include <vector>

#include "wire/strict_json.h"
#include "wire/text_time.h"

namespace perdure {
namespace {

namespace json = boost::json;

// What is not accepted is read again by who can say what is wrong with it.
std::optional<ParseError> explain(std::string_view text,
                                  std::optional<ParseError> (*parse)(std::string_view,
                                                                     json::value&)) {
    json::value ignored;
    auto parse_error = parse(text, ignored);
    return parse_error ? parse_error : ParseError{"this is not JSON", "$"};
}

}  // namespace

std::optional<ParseError> parse_strict(std::string_view text, JsonTree& into) {
    if (into.read(text, JsonTree::Manner::strict)) return std::nullopt;
    return explain(text, parse_strict);
}

std::optional<ParseError> parse_quick(std::string_view text, JsonTree& into) {
    if (into.read(text, JsonTree::Manner::quick)) return std::nullopt;
    return explain(text, parse_quick);
}

std::optional<ParseError> parse_strict(std::string_view text, json::value& into) {
    StrictJson parser(into.storage());
    return parser.parse(text, into);
}

std::optional<ParseError> parse_quick(std::string_view text, json::value& into) {
    json::parse_options options;
    options.max_depth = json_depth_max;
    // What the parser needs for itself fits here; what it makes lies where `into` is, so that it
    // need not be copied there.
    std::array<unsigned char, 4096> scratch;
    json::parser parser({}, options, scratch.data(), scratch.size());
    parser.reset(into.storage());
    json::error_code failure;
    parser.write(text.data(), text.size(), failure);
    if (failure) return ParseError{"this is not JSON: " + failure.message(), "$"};
    into = parser.release();
    return std::nullopt;
}

std::string JsonCursor::path() const {
    if (!parent_) return "$";
    if (name_.data() == nullptr) return fmt::format("{}[{}]", parent_->path(), index_);
    return fmt::format("{}.{}", parent_->path(), name_);
}

void JsonCursor::parse_error(std::string what) const {
    if (!ok()) return;
    reading_->parse_error = ParseError{std::move(what), path()};
}

void JsonCursor::misfit_at(std::string_view name, std::string what) const {
    if (!ok()) return;
    reading_->parse_error = ParseError{std::move(what), fmt::format("{}.{}", path(), name)};
}

std::size_t JsonCursor::count() const {
    std::size_t count = 0;
    if (is_list())
        for (const auto* value = node_->begin(); value != node_->end(); value = value->end())
            ++count;
    return count;
}

bool JsonCursor::has(std::string_view name) const {
    bool found = false;
    if (is_object())
        members([&](std::string_view each, const JsonCursor&) { found = found || each == name; });
    return found;
}

void JsonCursor::read(std::string& into) const {
    if (!is_text()) return parse_error("must be a text");
    into.assign(node_->text);
}

void JsonCursor::read(bool& into) const {
    if (node_->kind != JsonNode::Kind::truth) return parse_error("must be true or false");
    into = node_->text == "true";
}

void JsonCursor::read(Duration& into) const {
    std::optional<Duration> duration;
    if (is_text()) duration = duration_value(node_->text);
    if (const auto seconds = node_->real()) duration = duration_of_seconds(*seconds);
    if (!duration)
        return parse_error("must be a duration like \"90s\", \"1h30m\" or \"250ms\", or seconds");
    into = *duration;
}

void JsonCursor::read(WallTime& into) const {
    std::optional<WallTime> time;
    if (is_text()) time = time_value(node_->text);
    if (!time) return parse_error("must be a time like \"2026-11-15T09:30:00Z\"");
    into = *time;
}

void JsonCursor::read(std::int32_t& into) const {
    const auto number = node_->whole();
    constexpr auto most = std::numeric_limits<std::int32_t>::max();
    constexpr auto least = std::numeric_limits<std::int32_t>::min();
    if (!number || *number < least || *number > most) return parse_error("must be a whole number");
    into = static_cast<std::int32_t>(*number);
}

std::optional<std::uint64_t> JsonCursor::read_id() const {
    std::optional<std::uint64_t> id;
    if (is_text()) id = id_value(node_->text);
    if (!id) parse_error("must be an id: 13 of 0-9 a-z without i l o u");
    return id;
}

std::optional<std::uint64_t> JsonCursor::read_number(std::uint64_t least,
                                                     std::uint64_t most) const {
    const auto number = node_->natural();
    if (number && *number >= least && *number <= most) return number;
    parse_error(fmt::format("must be a whole number from {} to {}", least, most));
    return std::nullopt;
}

std::optional<std::size_t> JsonCursor::read_name(std::span<const std::string_view> names) const {
    if (is_text())
        for (std::size_t i = 0; i < names.size(); ++i)
            if (names[i] == node_->text) return i;
    parse_error(fmt::format("must be one of {}", fmt::join(names, ", ")));
    return std::nullopt;
}

}  // namespace perdure
