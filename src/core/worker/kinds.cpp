#include "core/worker/kinds.h"

#include <algorithm>

namespace perdure {

Result<std::vector<std::string>> choose_kinds(const std::vector<std::string>& listed) {
    if (listed.empty()) return std::vector<std::string>(own_kinds.begin(), own_kinds.end());
    std::vector<std::string> chosen;
    for (const auto& name : listed) {
        const auto can =
            std::find_if(own_kinds.begin(), own_kinds.end(),
                         [&](std::string_view kind) { return spoken_kind(kind) == name; });
        if (can == own_kinds.end()) {
            std::string what = "a worker cannot run jobs of kind `" + name + "`; it can: ";
            for (const auto kind : own_kinds)
                what += std::string(kind.empty() ? "" : ", ") + std::string(spoken_kind(kind));
            return error(Errc::invalid, what);
        }
        if (std::find(chosen.begin(), chosen.end(), *can) == chosen.end())
            chosen.emplace_back(*can);
    }
    return chosen;
}

}  // namespace perdure
