// Processes of this machine, as a drill looks for them and hits them. Only what a drill has started
// is ever signalled: it is found as a descendant, or by a text in its environment that nobody else
// has.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace perdure::drill {

// A process that is dead but not reaped does not live.
bool is_alive(pid_t process);
pid_t parent_of(pid_t process);
// The process and everything below it.
std::vector<pid_t> tree_of(pid_t root);
// The child of `parent` whose command line has this word; 0: there is none.
pid_t child_with(pid_t parent, std::string_view word);
// All whose environment has this text.
std::vector<pid_t> with_environment(const std::string& text);

void signal_all(const std::vector<pid_t>& processes, int number);

// From now on orphans come to this process, which can find and end them all.
void adopt_orphans();
// Ends everything that was started by this process, and whatever that has started.
void end_all_descendants();
// Takes the exit codes of orphans that have ended, as init would.
void reap_orphans();

}  // namespace perdure::drill
