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

std::string_view text_of(const json::string& text) { return {text.data(), text.size()}; }

}  // namespace

std::optional<Misfit> parse_strict(std::string_view text, json::value& into) {
    StrictJson parser(into.storage());
    return parser.parse(text, into);
}

std::optional<Misfit> parse_quick(std::string_view text, json::value& into) {
    json::parse_options options;
    options.max_depth = json_depth_max;
    // What the parser needs for itself fits here; what it makes lies where `into` is, so that it
    // need not be copied there.
    std::array<unsigned char, 4096> scratch;
    json::parser parser({}, options, scratch.data(), scratch.size());
    parser.reset(into.storage());
    json::error_code failure;
    parser.write(text.data(), text.size(), failure);
    if (failure) return Misfit{"this is not JSON: " + failure.message(), "$"};
    into = parser.release();
    return std::nullopt;
}

JsonCursor JsonCursor::member(std::string_view name, const json::value& value) const {
    JsonCursor child(value, *reading_);
    child.parent_ = this;
    child.name_ = name;
    return child;
}

JsonCursor JsonCursor::element(std::size_t index, const json::value& value) const {
    JsonCursor child(value, *reading_);
    child.parent_ = this;
    child.index_ = index;
    return child;
}

std::string JsonCursor::path() const {
    if (!parent_) return "$";
    if (name_.data() == nullptr) return fmt::format("{}[{}]", parent_->path(), index_);
    return fmt::format("{}.{}", parent_->path(), name_);
}

void JsonCursor::misfit(std::string what) const {
    if (!ok()) return;
    reading_->misfit = Misfit{std::move(what), path()};
}

void JsonCursor::read(std::string& into) const {
    const auto* text = value_->if_string();
    if (!text) return misfit("must be a text");
    into.assign(text->data(), text->size());
}

void JsonCursor::read(bool& into) const {
    const auto* truth = value_->if_bool();
    if (!truth) return misfit("must be true or false");
    into = *truth;
}

void JsonCursor::read(Duration& into) const {
    std::optional<Duration> duration;
    if (const auto* text = value_->if_string()) duration = duration_value(text_of(*text));
    if (value_->is_number()) duration = duration_of_seconds(value_->to_number<double>());
    if (!duration)
        return misfit("must be a duration like \"90s\", \"1h30m\" or \"250ms\", or seconds");
    into = *duration;
}

void JsonCursor::read(WallTime& into) const {
    std::optional<WallTime> time;
    if (const auto* text = value_->if_string()) time = time_value(text_of(*text));
    if (!time) return misfit("must be a time like \"2026-11-15T09:30:00Z\"");
    into = *time;
}

void JsonCursor::read(std::int32_t& into) const {
    const auto* number = value_->if_int64();
    constexpr auto most = std::numeric_limits<std::int32_t>::max();
    constexpr auto least = std::numeric_limits<std::int32_t>::min();
    if (!number || *number < least || *number > most) return misfit("must be a whole number");
    into = static_cast<std::int32_t>(*number);
}

std::optional<std::uint64_t> JsonCursor::read_id() const {
    std::optional<std::uint64_t> id;
    if (const auto* text = value_->if_string()) id = id_value(text_of(*text));
    if (!id) misfit("must be an id: 13 of 0-9 a-z without i l o u");
    return id;
}

std::optional<std::uint64_t> JsonCursor::read_number(std::uint64_t least,
                                                     std::uint64_t most) const {
    std::optional<std::uint64_t> number;
    if (const auto* positive = value_->if_uint64()) number = *positive;
    if (const auto* any = value_->if_int64(); any && *any >= 0)
        number = static_cast<std::uint64_t>(*any);
    if (number && *number >= least && *number <= most) return number;
    misfit(fmt::format("must be a whole number from {} to {}", least, most));
    return std::nullopt;
}

std::optional<std::size_t> JsonCursor::read_name(std::span<const std::string_view> names) const {
    if (const auto* text = value_->if_string())
        for (std::size_t i = 0; i < names.size(); ++i)
            if (names[i] == text_of(*text)) return i;
    misfit(fmt::format("must be one of {}", fmt::join(names, ", ")));
    return std::nullopt;
}

}  // namespace perdure
