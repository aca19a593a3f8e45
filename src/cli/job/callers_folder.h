// CallersFolder: jobs that are typed here run where the caller stands, if they will run as the
// caller on this machine (core/worker/folder.h); otherwise in a fresh folder, and that is said
// once.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_context.h"
#include "core/ownership/claim.h"

namespace perdure::cli {

class CallersFolder {
public:
    explicit CallersFolder(Context& context) : context_(context) {}

    // Gives the job its `cwd`. What has one, or no command, is left as it is. `others`: names
    // tenant and queue if the job itself does not.
    // unavailable: there is no server to ask.
    Result<void> give(boost::json::object& job, const boost::json::object* others = nullptr);

private:
    using Offers = std::optional<std::vector<Offer>>;  // empty: not all are known
    Result<Offers> offers_for(const std::string& tenant);

    Context& context_;
    std::map<std::string, Offers> known_;  // by tenant
    bool has_said_ = false;
};

}  // namespace perdure::cli
