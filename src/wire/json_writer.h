// JsonWriter: writes JSON straight into a string; no tree is built. What comes out is always valid
// UTF-8: bytes that are none become U+FFFD. Commas are its own business; balance is the caller's.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

#include "base/id.h"

namespace perdure {

class JsonWriter {
public:
    explicit JsonWriter(std::string& into) : out_(into) {}

    void begin_object() { open('{'); }
    void end_object() { close('}'); }
    void begin_array() { open('['); }
    void end_array() { close(']'); }

    // A name that stands in the program. Put together by the compiler and appended in one piece:
    // names are most of what is written.
    template <std::size_t N>
    void key(const char (&name)[N]) {
        std::array<char, N + 3> text;
        text[0] = ',';
        text[1] = '"';
        std::copy_n(name, N - 1, text.data() + 2);
        text[N + 1] = '"';
        text[N + 2] = ':';
        const std::string_view all(text.data(), text.size());
        out_ += comma_ ? all : all.substr(1);
        comma_ = false;
    }
    // Other names that were checked: plain text without quotes. The rest goes through text_key().
    void key(std::string_view name) {
        separate();
        out_ += '"';
        out_ += name;
        out_ += "\":";
        comma_ = false;
    }
    void text_key(std::string_view name) {
        value(name);
        out_ += ':';
        comma_ = false;
    }

    void value(std::string_view text);
    void value(const char* text) { value(std::string_view(text)); }
    void value(bool truth) { raw(truth ? "true" : "false"); }
    template <std::integral Number>
    void value(Number number) {
        char digits[24];
        const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
        raw({digits, static_cast<std::size_t>(end - digits)});
    }
    template <class Tag>
    void value(Id<Tag> id) {
        plain_value(id.text());
    }
    void null() { raw("null"); }
    // JSON text, known to be valid.
    void raw(std::string_view json) {
        separate();
        out_ += json;
        comma_ = true;
    }

    template <std::size_t N, class Value>
    void field(const char (&name)[N], const Value& content) {
        key(name);
        value(content);
    }
    template <class Value>
    void field(std::string_view name, const Value& content) {
        key(name);
        value(content);
    }
    // Left out if it is false: what is not there is not so.
    template <std::size_t N>
    void flag(const char (&name)[N], bool truth) {
        if (truth) field(name, true);
    }

private:
    // Text that needs no escapes.
    void plain_value(std::string_view text) {
        separate();
        out_ += '"';
        out_ += text;
        out_ += '"';
        comma_ = true;
    }
    void open(char bracket) {
        separate();
        out_ += bracket;
        comma_ = false;
    }
    void close(char bracket) {
        out_ += bracket;
        comma_ = true;
    }
    void separate() {
        if (comma_) out_ += ',';
    }

    std::string& out_;
    bool comma_ = false;
};

}  // namespace perdure
