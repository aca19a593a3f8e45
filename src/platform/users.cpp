#include "platform/users.h"

#include <fmt/format.h>
#include <pwd.h>

#include <charconv>
#include <vector>

namespace perdure {
namespace {

constexpr std::size_t entry_max = std::size_t{64} << 10;

}  // namespace

std::string user_name(uid_t uid) {
    std::vector<char> space(entry_max);
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(uid, &entry, space.data(), space.size(), &found) == 0 && found)
        return found->pw_name;
    return fmt::format("uid {}", uid);
}

std::optional<uid_t> user_id(std::string_view name) {
    uid_t number = 0;
    const auto* end = name.data() + name.size();
    const auto read = std::from_chars(name.data(), end, number);
    if (read.ec == std::errc() && read.ptr == end) return number;
    std::vector<char> space(entry_max);
    passwd entry{};
    passwd* found = nullptr;
    const std::string text(name);
    if (::getpwnam_r(text.c_str(), &entry, space.data(), space.size(), &found) == 0 && found)
        return found->pw_uid;
    return std::nullopt;
}

}  // namespace perdure
