// Leftovers: children that this process did not start. They came to it as to a subreaper, because
// their own parent has died.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

namespace perdure {

// All children of this process, which has one thread. Some may be missing while others end: look
// again after each end.
std::vector<pid_t> children_of_this_process();

// The file name of the program that a process runs; empty if it has ended or may not be asked.
std::string program_of(pid_t process);

// Kills every child that is neither in `spared` nor runs `shim`. Safe by pid: a child that nobody
// has waited for keeps its number. Returns what was killed, for the log.
std::vector<std::string> kill_leftovers(const std::set<pid_t>& spared, const std::string& shim);

}  // namespace perdure
