#include "tests/wire/transcript.h"

#include <boost/json/serialize.hpp>
#include <sstream>

#include "base/id.h"
#include "wire/text_time.h"

namespace perdure::wire_tests {
namespace {

namespace json = boost::json;

constexpr std::string_view anything = "…";

std::string text(const json::value& value) {
    return value.is_string() ? std::string(value.get_string().c_str()) : json::serialize(value);
}

Block read_block(const std::string& kind, const std::vector<std::string>& lines) {
    Block block{.kind = kind};
    std::size_t at = 0;
    if (at < lines.size()) block.first_line = lines[at++];
    for (; at < lines.size() && !lines[at].empty(); ++at) block.body += lines[at] + "\n";
    if (at + 1 < lines.size()) {
        block.status = static_cast<unsigned>(std::stoul(lines[at + 1]));
        at += 2;
    }
    for (; at < lines.size(); ++at) block.answer += lines[at] + "\n";
    return block;
}

std::string differ(const json::value& page, const json::value& given) {
    return "the page has " + json::serialize(page) + ", the server says " + json::serialize(given);
}

std::string object_difference(const json::object& page, const json::object& given, Names& names) {
    for (const auto& member : page) {
        if (member.key() == anything) continue;
        const auto* value = given.if_contains(member.key());
        if (!value) return "the server does not say " + std::string(member.key());
        const auto found = difference(member.value(), *value, names);
        if (!found.empty()) return std::string(member.key()) + ": " + found;
    }
    if (page.contains(anything)) return {};
    for (const auto& member : given)
        if (!page.contains(member.key()))
            return "the page does not have " + std::string(member.key());
    return {};
}

}  // namespace

std::vector<Block> blocks_of(const std::string& page) {
    std::vector<Block> blocks;
    std::istringstream in(page);
    std::string line;
    for (std::size_t number = 1; std::getline(in, line); ++number) {
        const bool opens = line == "```http" || line == "```stream" || line == "```logs";
        if (!opens) continue;
        const auto kind = line.substr(3);
        const auto begin = number;
        std::vector<std::string> lines;
        while (std::getline(in, line) && line != "```") lines.push_back(line), ++number;
        blocks.push_back(read_block(kind, lines));
        blocks.back().line = begin;
    }
    return blocks;
}

std::string translate(std::string text, const Names& names) {
    for (const auto& [page, given] : names)
        for (auto at = text.find(page); at != std::string::npos; at = text.find(page, at + 1))
            text.replace(at, page.size(), given);
    return text;
}

std::string difference(const json::value& page, const json::value& given, Names& names) {
    if (page.is_string() && text(page) == anything) return {};
    if (page.is_object() && given.is_object())
        return object_difference(page.get_object(), given.get_object(), names);
    if (page.is_array() && given.is_array()) {
        const auto& wanted = page.get_array();
        if (wanted.size() != given.get_array().size()) return differ(page, given);
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const auto found = difference(wanted[i], given.get_array()[i], names);
            if (!found.empty()) return "[" + std::to_string(i) + "]: " + found;
        }
        return {};
    }
    if (!page.is_string() || !given.is_string())
        return page == given ? std::string() : differ(page, given);
    if (id_value(text(page)) && id_value(text(given))) {
        const auto [bound, is_new] = names.emplace(text(page), text(given));
        return bound->second == text(given) ? std::string() : differ(page, given);
    }
    if (time_value(text(page)) && time_value(text(given))) return {};
    return page == given ? std::string() : differ(page, given);
}

}  // namespace perdure::wire_tests
