#include "wire/strict_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "wire/json_reader.h"

namespace perdure {
namespace {

namespace json = boost::json;

// Receives what the parser meets. Returning false ends the parse; `fault` then says why.
class TreeBuilder {
public:
    constexpr static std::size_t max_object_size = json::object::max_size();
    constexpr static std::size_t max_array_size = json::array::max_size();
    constexpr static std::size_t max_key_size = json::string::max_size();
    constexpr static std::size_t max_string_size = json::string::max_size();

    explicit TreeBuilder(json::storage_ptr memory) : memory_(std::move(memory)) {}

    std::optional<ParseError> fault;
    json::value release() { return stack_.release(); }

    bool on_document_begin(json::error_code&) {
        stack_.reset(memory_);
        return true;
    }
    bool on_document_end(json::error_code&) { return true; }
    bool on_object_begin(json::error_code&) {
        levels_.push_back({.is_object = true, .names_begin = names_.size()});
        return true;
    }
    bool on_object_end(std::size_t count, json::error_code&) {
        stack_.push_object(count);
        leave();
        return true;
    }
    bool on_array_begin(json::error_code&) {
        levels_.push_back({.is_object = false, .names_begin = names_.size()});
        return true;
    }
    bool on_array_end(std::size_t count, json::error_code&) {
        stack_.push_array(count);
        leave();
        return true;
    }
    bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
        key_.append(part.data(), part.size());
        stack_.push_chars(part);
        return true;
    }
    bool on_key(json::string_view part, std::size_t, json::error_code& failure) {
        key_.append(part.data(), part.size());
        stack_.push_key(part);
        return note_name(failure);
    }
    bool on_string_part(json::string_view part, std::size_t, json::error_code& failure) {
        stack_.push_chars(part);
        return has_no_nul(part, failure);
    }
    bool on_string(json::string_view part, std::size_t, json::error_code& failure) {
        if (!has_no_nul(part, failure)) return false;
        stack_.push_string(part);
        count();
        return true;
    }
    bool on_number_part(json::string_view part, json::error_code&) {
        number_.append(part.data(), part.size());
        return true;
    }
    bool on_int64(std::int64_t number, json::string_view, json::error_code&) {
        stack_.push_int64(number);
        return number_is_done();
    }
    bool on_uint64(std::uint64_t number, json::string_view, json::error_code&) {
        stack_.push_uint64(number);
        return number_is_done();
    }
    bool on_double(double number, json::string_view part, json::error_code& failure) {
        number_.append(part.data(), part.size());
        // The parser's own number may be wrong in its last digit, and its 0e400 is none.
        std::from_chars(number_.data(), number_.data() + number_.size(), number);
        const bool whole = number_.find_first_of(".eE") == std::string::npos;
        if (whole || !std::isfinite(number))
            return refuse("this number does not fit: write it as a text", failure);
        stack_.push_double(number);
        return number_is_done();
    }
    bool on_bool(bool truth, json::error_code&) {
        stack_.push_bool(truth);
        count();
        return true;
    }
    bool on_null(json::error_code&) {
        stack_.push_null();
        count();
        return true;
    }
    bool on_comment_part(json::string_view, json::error_code&) { return true; }
    bool on_comment(json::string_view, json::error_code&) { return true; }

private:
    struct Level {
        bool is_object = false;
        std::size_t names_begin = 0;  // of this object's names in names_
        std::size_t values = 0;
        std::set<std::string> many;  // all names, once there are too many to look through
    };
    static constexpr std::size_t few = 32;

    void count() {
        if (!levels_.empty()) ++levels_.back().values;
    }
    void leave() {
        names_.resize(levels_.back().names_begin);
        levels_.pop_back();
        count();
    }
    bool number_is_done() {
        number_.clear();
        count();
        return true;
    }
    bool note_name(json::error_code& failure) {
        const bool known = is_known(levels_.back());
        names_.push_back(std::exchange(key_, {}));
        if (known) return refuse("this name is given twice", failure);
        return has_no_nul(names_.back(), failure);
    }
    bool is_known(Level& level) {
        const auto begin = names_.begin() + static_cast<std::ptrdiff_t>(level.names_begin);
        if (names_.size() - level.names_begin < few)
            return std::find(begin, names_.end(), key_) != names_.end();
        if (level.many.empty()) level.many.insert(begin, names_.end());
        return !level.many.insert(key_).second;
    }
    bool has_no_nul(std::string_view text, json::error_code& failure) {
        if (text.find('\0') == std::string_view::npos) return true;
        return refuse("a text must not contain NUL characters", failure);
    }
    bool refuse(std::string what, json::error_code& failure) {
        fault = ParseError{std::move(what), path()};
        failure = json::error::syntax;
        return false;
    }
    // Where the parser is. An array has as many finished values as the index of the next one.
    std::string path() const {
        std::string path = "$";
        for (std::size_t i = 0; i < levels_.size(); ++i) {
            const auto end = i + 1 < levels_.size() ? levels_[i + 1].names_begin : names_.size();
            if (!levels_[i].is_object)
                path += fmt::format("[{}]", levels_[i].values);
            else if (end > levels_[i].names_begin)
                path += "." + names_[end - 1];
        }
        return path;
    }

    json::storage_ptr memory_;
    json::value_stack stack_;
    std::vector<Level> levels_;
    std::vector<std::string> names_;
    std::string key_;
    std::string number_;
};

json::parse_options options() {
    json::parse_options options;
    options.max_depth = json_depth_max;
    return options;
}

std::string sentence(const json::error_code& failure, std::size_t at, std::size_t size) {
    if (failure == json::error::too_deep)
        return fmt::format("JSON may be at most {} levels deep", json_depth_max);
    if (failure == json::error::incomplete || at >= size)
        return "this JSON is cut off before its end";
    return fmt::format("this is not JSON, from byte {} on: {}", at, failure.message());
}

}  // namespace

struct StrictJson::Parts {
    explicit Parts(json::storage_ptr memory) : parser(options(), std::move(memory)) {}
    json::basic_parser<TreeBuilder> parser;
};

StrictJson::StrictJson(json::storage_ptr memory)
    : parts_(std::make_unique<Parts>(std::move(memory))) {}
StrictJson::~StrictJson() = default;

std::optional<ParseError> StrictJson::parse(std::string_view text, json::value& into) {
    auto& parser = parts_->parser;
    parser.reset();
    json::error_code failure;
    const auto used = parser.write_some(false, text.data(), text.size(), failure);
    auto& builder = parser.handler();
    if (builder.fault) return builder.fault;
    if (!failure && used < text.size() &&
        text.find_first_not_of(" \t\r\n", used) != std::string_view::npos)
        return ParseError{fmt::format("there is more after the end of the JSON, at byte {}", used),
                          "$"};
    if (failure) return ParseError{sentence(failure, used, text.size()), "$"};
    into = builder.release();
    return std::nullopt;
}

}  // namespace perdure
