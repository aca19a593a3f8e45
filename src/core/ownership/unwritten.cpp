#include "core/ownership/unwritten.h"

#include "base/zoo.h"

namespace perdure {

UnwrittenDecision decide_unwritten(const UnwrittenFacts& f, const Timing& timing) {
    if (!f.says_nothing_new) return {.rule = "T4/news"};
    if (f.has_work) return {.rule = "T4/work"};
    if (f.due_in && *f.due_in <= timing.unwritten_before_due) return {.rule = "T4/deadline"};
    if (f.unwritten_for >= timing.unwritten) return {.is_idle = true, .rule = "T4/long_enough"};
    return {.stays_unwritten = true, .is_idle = true, .rule = "T4/idle"};
}

}  // namespace perdure
