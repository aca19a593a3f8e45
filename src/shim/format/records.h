// Records: the one format of the shim's order and of its talk with the worker. A record is
//     name SP length LF bytes LF
// with a name of a-z and _, and a decimal length. A reader skips records of unknown names,
// so that a worker and a shim of neighbouring versions understand each other.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace perdure {

inline constexpr std::size_t record_max = std::size_t{4} << 20;

struct Record {
    std::string_view name;
    std::string_view bytes;
};

void append_record(std::string& to, std::string_view name, std::string_view bytes);
void append_record(std::string& to, std::string_view name, std::int64_t number);

// Takes records off the front of a text that may still be growing.
class RecordReader {
public:
    explicit RecordReader(std::string_view text) : text_(text) {}

    // Empty: the rest is an incomplete record, or corrupt() if it can never become one.
    std::optional<Record> next();
    bool corrupt() const { return corrupt_; }
    std::size_t consumed() const { return at_; }

private:
    std::optional<Record> fail() {
        corrupt_ = true;
        return std::nullopt;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    bool corrupt_ = false;
};

// "word rest": takes the word off the front.
inline std::string_view take_word(std::string_view& line) {
    const auto space = line.find(' ');
    const auto word = line.substr(0, space);
    line = space == std::string_view::npos ? std::string_view{} : line.substr(space + 1);
    return word;
}

// A decimal number that fills the whole text.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
    Number value{};
    const auto* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, value);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
    return value;
}

}  // namespace perdure
