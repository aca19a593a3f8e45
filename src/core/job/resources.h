// Resources: whether a worker may run an attempt whose author has limited what it may use. A limit
// that was asked for is a promise: where it cannot be enforced, the attempt does not run.
#pragma once

#include <string_view>
#include <vector>

#include "core/job/job.h"

namespace perdure {

// What a worker's machine can hold a tree of processes to.
struct Enforceable {
    bool memory = false;
    bool cpu = false;
    bool processes = false;
    friend bool operator==(const Enforceable&, const Enforceable&) = default;
};

// The fields of a job that it keeps, in their order.
std::vector<std::string_view> names_of(const Enforceable& limits);
void add_name(Enforceable& limits, std::string_view name);  // nothing if it is not known

struct ResourceDecision {
    bool run = true;
    std::string_view rule;
    std::string_view missing;  // what cannot be enforced: the field's name
};
ResourceDecision decide_resources(const Resources& asked, const Enforceable& here);

}  // namespace perdure
