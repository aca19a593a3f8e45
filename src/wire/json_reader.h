// Reading JSON that others wrote. Nothing is assumed: the first thing that does not fit is kept
// with its path, and everything read after it is ignored by the caller.
//   parse_strict()  for people's requests: duplicate names and numbers that do not fit are refused
//   parse_quick()   for hot messages between our own programs: the last of two equal names counts
// Both refuse lone surrogates, NUL characters, invalid UTF-8 and more than 32 levels.
#pragma once

#include <array>
#include <boost/json/value.hpp>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "wire/json_tree.h"

namespace perdure {

// What is wrong, and where: `$.jobs[3].priority`.
struct ParseError {
    std::string what;
    std::string path;
};

// `text` must outlive the tree.
std::optional<ParseError> parse_strict(std::string_view text, JsonTree& into);
std::optional<ParseError> parse_quick(std::string_view text, JsonTree& into);
template <std::same_as<std::string> Temporary>
std::optional<ParseError> parse_strict(Temporary&& text, JsonTree& into) = delete;
template <std::same_as<std::string> Temporary>
std::optional<ParseError> parse_quick(Temporary&& text, JsonTree& into) = delete;
// For who wants values of its own, and has the time.
std::optional<ParseError> parse_strict(std::string_view text, boost::json::value& into);
std::optional<ParseError> parse_quick(std::string_view text, boost::json::value& into);

// What one reading shares.
struct Reading {
    bool ignore_unknown = false;
    std::optional<ParseError> parse_error;  // the first one
};

// One value, with its place in the whole. Lives no longer than the tree and its parent.
class JsonCursor {
public:
    JsonCursor(const JsonTree& tree, Reading& reading) : JsonCursor(tree.root(), reading) {}

    const JsonNode& node() const { return *node_; }
    bool is_text() const { return node_->kind == JsonNode::Kind::text; }
    bool is_number() const { return node_->kind == JsonNode::Kind::number; }
    bool is_list() const { return node_->kind == JsonNode::Kind::list; }
    bool is_object() const { return node_->kind == JsonNode::Kind::object; }
    // What a text says; empty if this is none.
    std::optional<std::string_view> text() const {
        return is_text() ? std::optional(node_->text) : std::nullopt;
    }

    bool ok() const { return !reading_->parse_error; }
    void parse_error(std::string what) const;
    // About a member of this object, whether it is there or not.
    void misfit_at(std::string_view name, std::string what) const;
    bool ignores_unknown() const { return reading_->ignore_unknown; }

    // Each leaves `into` as it is, and notes a misfit, if the value is something else.
    void read(std::string& into) const;
    void read(bool& into) const;
    void read(Duration& into) const;  // text, or a number of seconds
    void read(WallTime& into) const;
    template <class Tag>
    void read(Id<Tag>& into) const {
        if (const auto id = read_id()) into.value = *id;
    }
    template <std::unsigned_integral Number>
    void read(Number& into) const {
        read_between(into, 0, std::numeric_limits<Number>::max());
    }
    void read(std::int32_t& into) const;
    template <class T>
    void read(std::optional<T>& into) const {
        T content{};
        read(content);
        if (ok()) into = std::move(content);
    }
    template <class Number>
    void read_between(Number& into, std::uint64_t least, std::uint64_t most) const {
        if (const auto number = read_number(least, most)) into = static_cast<Number>(*number);
    }
    // The position of a text in `names`; nothing, and a misfit, if it is none of them.
    std::optional<std::size_t> read_name(std::span<const std::string_view> names) const;

    // How many elements a list has; 0 if this is none.
    std::size_t count() const;
    // Calls each(cursor) for every element of a list.
    template <class Each>
    void elements(Each each) const {
        if (!is_list()) return parse_error("must be a list");
        std::size_t index = 0;
        for (const auto* value = node_->begin(); value != node_->end() && ok();
             value = value->end()) {
            each(element(index++, *value));
        }
    }
    // False if this is no object, or has no such member.
    bool has(std::string_view name) const;
    // Calls each(name, cursor) for every member of an object.
    template <class Each>
    void members(Each each) const {
        if (!is_object()) return parse_error("must be an object");
        const auto* value = node_;
        for (const auto* name = node_->begin(); name != node_->end() && ok(); name = value->end()) {
            value = name + 1;
            if (name->kind == JsonNode::Kind::name) each(name->text, member(name->text, *value));
        }
    }

private:
    JsonCursor(const JsonNode& node, Reading& reading) : node_(&node), reading_(&reading) {}
    JsonCursor member(std::string_view name, const JsonNode& value) const {
        JsonCursor child(value, *reading_);
        child.parent_ = this;
        child.name_ = name;
        return child;
    }
    JsonCursor element(std::size_t index, const JsonNode& value) const {
        JsonCursor child(value, *reading_);
        child.parent_ = this;
        child.index_ = index;
        return child;
    }
    std::optional<std::uint64_t> read_id() const;
    std::optional<std::uint64_t> read_number(std::uint64_t least, std::uint64_t most) const;
    std::string path() const;

    const JsonNode* node_;
    Reading* reading_;
    const JsonCursor* parent_ = nullptr;
    std::string_view name_;
    std::size_t index_ = 0;
};

template <class Enum, std::size_t N>
void read_enum(const JsonCursor& at, const std::array<std::string_view, N>& names, Enum& into) {
    if (const auto found = at.read_name(names)) into = static_cast<Enum>(*found);
}

// Replaces what was there.
inline void read_texts(const JsonCursor& at, std::vector<std::string>& into) {
    into.clear();
    at.elements([&](const JsonCursor& element) { element.read(into.emplace_back()); });
}

// Whole microseconds, quick to write and to read: between programs, never for people. At most
// twice the longest that can be asked for: an instant and a sum of two of these do not overflow.
inline void read_us(const JsonCursor& at, Duration& into) {
    std::uint64_t us = 0;
    at.read_between(us, 0, static_cast<std::uint64_t>(days(7300).us));
    into.us = static_cast<std::int64_t>(us);
}

// An object with known fields: a table of names, each with the function that reads it.
enum class Need { optional, required };
template <class T>
struct JsonField {
    std::string_view name;
    void (*read)(const JsonCursor& at, T& into);
    Need need = Need::optional;
};

template <class T>
void read_fields(const JsonCursor& at, std::span<const JsonField<T>> fields, T& into) {
    std::uint64_t given = 0;  // a bit for each field: no table is longer than that
    at.members([&](std::string_view name, const JsonCursor& member) {
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (fields[i].name != name) continue;
            given |= std::uint64_t{1} << i;
            return fields[i].read(member, into);
        }
        if (!at.ignores_unknown()) member.parse_error("there is no such field");
    });
    for (std::size_t i = 0; i < fields.size() && at.ok(); ++i)
        if (fields[i].need == Need::required && (given >> i & 1) == 0)
            at.misfit_at(fields[i].name, "must be given");
}

}  // namespace perdure
