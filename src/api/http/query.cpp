#include "api/http/query.h"

#include <fmt/format.h>

#include <charconv>

#include "wire/text_time.h"

namespace perdure {

std::optional<std::string> QueryReader::text(std::string_view name) {
    known_.emplace(name);
    std::optional<std::string> found;
    for (const auto& [key, value] : request_.query) {
        if (key != name) continue;
        if (found) parse_error(name, "this parameter is given twice");
        found = value;
    }
    return found;
}

std::uint64_t QueryReader::number(std::string_view name, std::uint64_t usual, std::uint64_t least,
                                  std::uint64_t most) {
    const auto given = text(name);
    if (!given) return usual;
    std::uint64_t number = 0;
    const auto* end = given->data() + given->size();
    const auto [stop, failure] = std::from_chars(given->data(), end, number);
    if (failure == std::errc() && stop == end && number >= least && number <= most) return number;
    parse_error(name, fmt::format("must be a whole number from {} to {}", least, most));
    return usual;
}

Duration QueryReader::duration(std::string_view name, Duration usual, Duration most) {
    const auto given = text(name);
    if (!given) return usual;
    auto duration = duration_value(*given);
    double plain = 0;
    const auto* end = given->data() + given->size();
    const auto [stop, failure] = std::from_chars(given->data(), end, plain);
    if (!duration && failure == std::errc() && stop == end) duration = duration_of_seconds(plain);
    if (duration && *duration <= most) return *duration;
    parse_error(name, "must be a duration like 30s, at most " + duration_text(most));
    return usual;
}

void QueryReader::parse_error(std::string_view name, std::string what) {
    if (!parse_error_) parse_error_ = ParseError{std::move(what), fmt::format("?{}", name)};
}

std::optional<ParseError> QueryReader::finish() {
    for (const auto& [name, value] : request_.query)
        if (!known_.contains(name)) parse_error(name, "there is no such parameter");
    return parse_error_;
}

}  // namespace perdure
