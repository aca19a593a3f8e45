#include "shim/format/records.h"

#include <algorithm>

namespace perdure {
namespace {

constexpr std::size_t head_max = 64;  // name, space, length, newline

bool is_name(std::string_view name) {
    const auto good = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
    return !name.empty() && std::all_of(name.begin(), name.end(), good);
}

}  // namespace

void append_record(std::string& to, std::string_view name, std::string_view bytes) {
    to.append(name).append(1, ' ').append(std::to_string(bytes.size())).append(1, '\n');
    to.append(bytes).append(1, '\n');
}

void append_record(std::string& to, std::string_view name, std::int64_t number) {
    append_record(to, name, std::string_view(std::to_string(number)));
}

std::optional<Record> RecordReader::next() {
    const auto rest = text_.substr(at_);
    const auto line_end = rest.substr(0, head_max).find('\n');
    if (line_end == std::string_view::npos) return rest.size() < head_max ? std::nullopt : fail();
    const auto head = rest.substr(0, line_end);
    const auto space = head.find(' ');
    if (space == std::string_view::npos || !is_name(head.substr(0, space))) return fail();
    const auto length = number_in<std::size_t>(head.substr(space + 1));
    if (!length || *length > record_max) return fail();
    const auto begin = line_end + 1;
    if (rest.size() < begin + *length + 1) return std::nullopt;
    if (rest[begin + *length] != '\n') return fail();
    at_ += begin + *length + 1;
    return Record{head.substr(0, space), rest.substr(begin, *length)};
}

}  // namespace perdure
