// One attempt's directory, from the worker's side: made before its shim is started, looked at when
// a worker begins its life, removed when the server has the result. All calls may block.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/job/job.h"
#include "ports/process.h"
#include "processes/disk/result_file.h"
#include "processes/disk/state_folder.h"
#include "shim/format/fd.h"
#include "shim/format/order.h"

namespace perdure {

std::string directory_name(AttemptKey attempt);
std::optional<AttemptKey> attempt_named(std::string_view name);

// What stands in the directory besides the order.
struct AttemptInput {
    std::string args;
    std::string checkpoint;
    std::string inputs;
};

// Makes the directory and locks it; the lock belongs to the descriptor's holder. Durable if the
// attempt asks before its start. On failure nothing is left. conflict: it is there already.
Result<Fd> make_attempt(StateFolder& folder, const Order& order, const AttemptInput& input);

struct FoundAttempt {
    OnDisk on_disk;
    std::string cgroup;
    bool other_boot = false;  // written before the machine was started anew
};
struct Found {
    std::vector<FoundAttempt> attempts;
    std::vector<std::string> damaged;  // names
};
Found find_attempts(const StateFolder& folder);

bool is_locked(const StateFolder& folder, const std::string& name);
Result<ReadResult> read_result(const StateFolder& folder, AttemptKey attempt);
Result<std::string> read_output(const StateFolder& folder, AttemptKey attempt, std::uint64_t offset,
                                std::size_t max);
bool has_started(const StateFolder& folder, AttemptKey attempt);
// False: something in it resists; it is out of the way all the same.
bool remove_attempt(StateFolder& folder, AttemptKey attempt);

}  // namespace perdure
