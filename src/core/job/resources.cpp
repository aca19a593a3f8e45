#include "core/job/resources.h"

#include <array>

namespace perdure {
namespace {

struct Named {
    std::string_view name;
    bool Enforceable::*field;
};
constexpr std::array all = {Named{"memory", &Enforceable::memory},
                            Named{"cpu_percent", &Enforceable::cpu},
                            Named{"processes", &Enforceable::processes}};

}  // namespace

std::vector<std::string_view> names_of(const Enforceable& limits) {
    std::vector<std::string_view> names;
    for (const auto& [name, field] : all)
        if (limits.*field) names.push_back(name);
    return names;
}

void add_name(Enforceable& limits, std::string_view name) {
    for (const auto& [known, field] : all)
        if (known == name) limits.*field = true;
}

ResourceDecision decide_resources(const Resources& asked, const Enforceable& here) {
    if (asked.memory && !here.memory) return {false, "resources/not_enforceable", "memory"};
    if (asked.cpu_percent && !here.cpu) return {false, "resources/not_enforceable", "cpu_percent"};
    if (asked.processes && !here.processes)
        return {false, "resources/not_enforceable", "processes"};
    return {true, "resources/enforceable", {}};
}

}  // namespace perdure
