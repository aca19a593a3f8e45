#include "core/ownership/unwritten.h"

#include "base/zoo.h"

namespace perdure {

UnwrittenDecision decide_unwritten(const UnwrittenFacts& f, const Timing& timing) {
    if (!f.says_nothing_new) return {false, "T4/news"};
    if (f.has_work) return {false, "T4/work"};
    if (f.due_in && *f.due_in <= timing.unwritten_before_due) return {false, "T4/deadline"};
    if (f.unwritten_for >= timing.unwritten) return {false, "T4/long_enough"};
    return {true, "T4/idle"};
}

}  // namespace perdure
