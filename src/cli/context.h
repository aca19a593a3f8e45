// Context: what a command gets to work with.
#pragma once

#include "cli/api.h"
#include "cli/args.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "cli/world.h"
#include "config/resolve.h"

namespace perdure::cli {

struct Context {
    const Args& args;
    Terminal& term;
    World& world;
    Backstage& backstage;
    const Configuration& configuration;
    Api& api;

    bool json() const { return args.flag("json"); }
};

}  // namespace perdure::cli
