// JsonWriter: writes JSON straight into a string; no tree is built. What comes out is always valid
// UTF-8: bytes that are none become U+FFFD. Commas are its own business; balance is the caller's.
#pragma once

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

    // Names are ours or were checked: plain text without quotes. Others go through text_key().
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
        value(std::string_view(id.text()));
    }
    void null() { raw("null"); }
    // JSON text, known to be valid.
    void raw(std::string_view json) {
        separate();
        out_ += json;
        comma_ = true;
    }

    template <class Value>
    void field(std::string_view name, const Value& content) {
        key(name);
        value(content);
    }
    // Left out if it is false: what is not there is not so.
    void flag(std::string_view name, bool truth) {
        if (truth) field(name, true);
    }

private:
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
