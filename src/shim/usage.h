// What an attempt takes of the machine, as the shim sees it. wait() says it of every process that
// it has reaped, each with all that those had waited for. A process whose parent ignores it is in
// nobody's sum; the cgroup has its processor time, where there is one. Both are lower bounds.
#pragma once

#include <sys/resource.h>

#include <string>
#include <string_view>

#include "core/explain/evidence.h"

namespace perdure {

void add_usage(Usage& to, const rusage& of_one);
// `usage_usec 5`, `user_usec 3`, `system_usec 2`, each on a line of its own: cpu.stat (v2).
Usage usage_in_cpu_stat(std::string_view text);
// Of all attempts that had the cgroup. Nothing if it cannot be read.
Usage usage_of_cgroup(const std::string& group);
// The cgroup's since `before`, where that is more.
Usage greater_usage(Usage reaped, const Usage& before, const Usage& now);

}  // namespace perdure
