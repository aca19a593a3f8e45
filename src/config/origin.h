// Origin: where the value of a setting came from.
#pragma once

#include <string>
#include <string_view>

namespace perdure {

struct Origin {
    enum class Kind { standard, file, environment, flag } kind = Kind::standard;
    std::string place;  // "perdure.toml:3", "PERDURE_DATA", "--data"; empty for a default
};
std::string_view to_string(Origin::Kind kind);

}  // namespace perdure
