// Users: accounts of this host by number and by name, as the name service knows them.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace perdure {

// Its name, or "uid 1000" if there is none.
std::string user_name(uid_t uid);
// Of a name, or of a number that is written out. Empty: there is no such account.
std::optional<uid_t> user_id(std::string_view name);

}  // namespace perdure
