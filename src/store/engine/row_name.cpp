#include "store/engine/row_name.h"

#include <fmt/format.h>

#include <string_view>

namespace perdure::store {
namespace {

bool is_plain(char c) { return c > ' ' && c < 127 && c != '/' && c != '%' && c != '\''; }

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (is_plain(c)) {
            out += c;
        } else {
            out += fmt::format("%{:02x}", static_cast<unsigned char>(c));
        }
    }
    return out;
}

}  // namespace

std::string row_name(const RowKey& key) {
    std::string name;
    for (const auto& value : key) {
        if (!name.empty()) name += '/';
        const auto* number = std::get_if<std::int64_t>(&value);
        name += number ? std::to_string(*number) : escaped(std::get<std::string>(value));
    }
    return name;
}

}  // namespace perdure::store
