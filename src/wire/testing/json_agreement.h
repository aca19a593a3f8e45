// Does JsonTree take what Boost.JSON takes, and understand the same? For tests of both manners.
// Intended differences, where the tree is right and Boost 1.81 is not:
//   D1  Boost refuses an exponent of more than nine digits. The tree takes it: the number is zero,
//   or
//       infinite, which strict reading refuses.
//   D2  Boost takes 0e400 for something that is no number. It is zero.
//   D3  Boost's numbers may be wrong in their last digits.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <string>
#include <string_view>

#include "wire/json_reader.h"

namespace perdure::json_testing {

namespace json = boost::json;
using Kind = JsonNode::Kind;

inline bool equals(const JsonNode& node, const json::value& value);

inline bool equals_list(const JsonNode& node, const json::array& array) {
    std::size_t index = 0;
    for (const auto* element = node.begin(); element != node.end(); element = element->end())
        if (index == array.size() || !equals(*element, array[index++])) return false;
    return index == array.size();
}

inline bool equals_object(const JsonNode& node, const json::object& object) {
    std::size_t count = 0;
    for (const auto* name = node.begin(); name != node.end(); name = (name + 1)->end()) {
        if (name->kind == Kind::hidden_name) continue;
        ++count;
        const auto* value = object.if_contains({name->text.data(), name->text.size()});
        if (!value || !equals(name[1], *value)) return false;
    }
    return count == object.size();
}

inline bool equals_number(const JsonNode& node, const json::value& value) {
    if (value.is_int64()) return node.whole() == value.get_int64();
    if (value.is_uint64()) return node.natural() == value.get_uint64();
    if (!value.is_double() || !node.real()) return false;
    const auto expected = value.get_double();
    if (std::isnan(expected)) return *node.real() == 0;    // D2
    const auto error = std::abs(*node.real() - expected);  // D3
    return *node.real() == expected || error <= std::abs(expected) * 1e-12;
}

// As another parser understands it.
inline bool equals(const JsonNode& node, const json::value& value) {
    switch (node.kind) {
        case Kind::null: return value.is_null();
        case Kind::truth: return value.is_bool() && value.get_bool() == (node.text == "true");
        case Kind::number: return equals_number(node, value);
        case Kind::text:
            return value.is_string() && std::string_view(value.get_string().data(),
                                                         value.get_string().size()) == node.text;
        case Kind::list: return value.is_array() && equals_list(node, value.get_array());
        case Kind::object: return value.is_object() && equals_object(node, value.get_object());
        case Kind::name:
        case Kind::hidden_name: return false;
    }
    return false;
}

// D1: it is only a difference if the exponent is that long.
inline bool has_huge_exponent(std::string_view text) {
    for (auto at = text.find_first_of("eE"); at != std::string_view::npos;
         at = text.find_first_of("eE", at + 1)) {
        auto digits = text.substr(at + 1);
        if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) digits.remove_prefix(1);
        const auto end = digits.find_first_not_of("0123456789");
        if (std::min(end, digits.size()) > 9) return true;
    }
    return false;
}

// The tree takes what the other parser takes, and understands the same.
inline testing::AssertionResult agrees(const std::string& text) {
    for (const auto manner : {JsonTree::Manner::quick, JsonTree::Manner::strict}) {
        const bool strict = manner == JsonTree::Manner::strict;
        json::value expected;
        const bool wanted = !(strict ? parse_strict(text, expected) : parse_quick(text, expected));
        JsonTree tree;
        const bool taken = tree.read(text, manner);
        if (taken && !wanted && has_huge_exponent(text)) continue;
        if (taken != wanted)
            return testing::AssertionFailure()
                   << (strict ? "strict" : "quick") << " reading is " << taken << " for: " << text;
        if (taken && !equals(tree.root(), expected))
            return testing::AssertionFailure() << "understands something else: " << text;
    }
    return testing::AssertionSuccess();
}

}  // namespace perdure::json_testing
