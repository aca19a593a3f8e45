#include "core/job/resources.h"

namespace perdure {

ResourceDecision decide_resources(const Resources& asked, const Enforceable& here) {
    if (asked.memory && !here.memory) return {false, "resources/not_enforceable", "memory"};
    if (asked.cpu_percent && !here.cpu) return {false, "resources/not_enforceable", "cpu_percent"};
    if (asked.processes && !here.processes)
        return {false, "resources/not_enforceable", "processes"};
    return {true, "resources/enforceable", {}};
}

}  // namespace perdure
