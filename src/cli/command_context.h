// Context: what a command gets to work with.
#pragma once

#include "cli/api_caller.h"
#include "cli/args.h"
#include "cli/command.h"
#include "cli/person_time.h"
#include "cli/system.h"
#include "cli/terminal.h"
#include "config/resolve.h"

namespace perdure::cli {

struct Context {
    const Args& args;
    Terminal& term;
    System& system;
    SubPrograms& backstage;
    const Configuration& configuration;
    ApiCaller& api;

    bool json() const { return args.flag("json"); }
    // Of the place whose times a person gives and reads.
    UtcOffset offset() const {
        if (args.flag("utc")) return [](WallTime) { return Duration{}; };
        return [&here = system](WallTime at) { return here.utc_offset(at); };
    }
};

}  // namespace perdure::cli
