// Refusals of our own processes: one sentence on standard error, and the exit code that tells the
// watchdog whether to try again.
#pragma once

#include <fmt/format.h>

#include <cstdio>

#include "base/error.h"
#include "base/exit_code.h"

namespace perdure {

inline ExitCode exit_code_of(Errc code) {
    switch (code) {
        case Errc::invalid: return ExitCode::usage;
        case Errc::not_found:
        case Errc::gone: return ExitCode::not_found;
        case Errc::unauthenticated:
        case Errc::forbidden: return ExitCode::forbidden;
        case Errc::conflict:
        case Errc::fenced: return ExitCode::conflict;
        case Errc::overloaded:
        case Errc::unavailable: return ExitCode::temporary;
        case Errc::outcome_unknown: return ExitCode::outcome_unknown;
        case Errc::corrupt: return ExitCode::corrupt;
    }
    return ExitCode::failed;
}

inline ExitCode refuse(const Error& why) {
    fmt::print(stderr, "perdure: {}\n", why.what);
    return exit_code_of(why.code);
}

}  // namespace perdure
