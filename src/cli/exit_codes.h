// What our exit codes mean, in sentences: docs/cli.md and the manual go by this table.
#pragma once

#include <array>
#include <string_view>

namespace perdure::cli {

struct ExitCodeMeaning {
    std::string_view code;
    std::string_view meaning;
};

inline constexpr std::array exit_code_meanings = {
    ExitCodeMeaning{"0", "done; for `run`: the job succeeded"},
    ExitCodeMeaning{
        "1", "done, and the answer is no: `fsck` found something, a process had to be killed"},
    ExitCodeMeaning{"2", "the command line, the configuration or the request is wrong"},
    ExitCodeMeaning{"3", "there is no such thing, or it is gone"},
    ExitCodeMeaning{"4", "not possible in its present state; port or directory is taken"},
    ExitCodeMeaning{"5", "no server answers"},
    ExitCodeMeaning{"6", "the outcome is not known: look before you repeat"},
    ExitCodeMeaning{"7", "not allowed: no token, too small a role, or a path of another account"},
    ExitCodeMeaning{"8", "something stored cannot be understood, or this is a bug: needs a person"},
    ExitCodeMeaning{"74",
                    "`run`, not on a terminal: it succeeded, but some of its output is missing"},
    ExitCodeMeaning{"75", "for now: repeat later; `begin` and `checkpoint`: not committed"},
    ExitCodeMeaning{"120", "not waited for: the job goes on"},
    ExitCodeMeaning{"121", "cancelled"},
    ExitCodeMeaning{"122", "expired: it waited too long"},
    ExitCodeMeaning{"123", "quarantined: it needs a person, and no signal ended its last attempt"},
    ExitCodeMeaning{"124", "a timeout"},
    ExitCodeMeaning{"125", "failed for a cause that is not the command's own"},
    ExitCodeMeaning{"127", "the command could not be used: not found, not executable, a folder"},
    ExitCodeMeaning{"128 + n", "a signal n has ended its last attempt"},
};

}  // namespace perdure::cli
