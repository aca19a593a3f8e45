// The process tree below a process, found by walking /proc, and signals to it. Signals go through
// pidfds, sent only after the process behind the pid was seen to be the one that was meant: a pid
// that was reused meanwhile is left alone.
//
// A walk may miss what is being forked. Whoever must be sure is a subreaper and walks again until
// it has no children left: all that lives below it would have become its child.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <vector>

#include "shim/format/fd.h"

namespace perdure {

struct ProcessRow {
    pid_t pid = 0;
    pid_t parent = 0;
    char state = '?';  // as in /proc/PID/stat; Z: dead, not yet reaped
};

std::vector<ProcessRow> list_processes();
std::vector<ProcessRow> descendants_of(pid_t root, const std::vector<ProcessRow>& all);

Fd open_pidfd(pid_t pid);
bool send_signal(const Fd& pidfd, int signal);

// To everything alive below `root`. Returns how many were alive.
std::size_t signal_descendants(pid_t root, int signal);
// To one process, if it is still a child of `row.parent`.
bool signal_if_same(const ProcessRow& row, int signal);

}  // namespace perdure
