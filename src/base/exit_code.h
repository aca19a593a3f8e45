// What our programs say by their exit code. docs/cli.md is the same list for people.
// `perdure run` ends with the job's own code, so the codes from 120 on are kept for it.
#pragma once

namespace perdure {

enum class ExitCode {
    ok = 0,
    failed = 1,           // what was asked has been done, and the answer is no
    usage = 2,            // the command line, configuration or request is wrong (`invalid`)
    not_found = 3,        // also `gone`
    conflict = 4,         // not possible in its state; port or directory are taken
    unreachable = 5,      // no server answered
    outcome_unknown = 6,  // it may have happened: read back
    forbidden = 7,        // not allowed: no token, or not the right; a path of somebody else
    corrupt = 8,          // needs a person
    output_missing = 74,  // of `run`: the job has succeeded, and not all that it printed came out
    temporary = 75,       // repeat later: `overloaded`, `unavailable`, not committed

    // How a job ended that has no exit code of its own, or that was not waited for.
    detached = 120,
    cancelled = 121,
    expired = 122,
    quarantined = 123,
    timed_out = 124,
    lost = 125,  // failed for a cause that is not the command's own
    command_unusable = 127,
    by_signal = 128,  // plus the signal's number
};

}  // namespace perdure
