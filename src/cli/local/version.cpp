// perdure version
#include <fmt/format.h>

#include <boost/json/object.hpp>

#include "base/version.h"
#include "cli/local/local_commands.h"

namespace perdure::cli {

ExitCode print_version(Context& context) {
    const auto build = context.backstage.build();
    if (context.json()) {
        boost::json::object document;
        document["version"] = std::string(version);
        if (!build.commit.empty()) document["commit"] = build.commit;
        if (!build.date.empty()) document["date"] = build.date;
        context.term.print(boost::json::value(std::move(document)));
    } else {
        const auto from = build.commit.empty()
                              ? std::string()
                              : fmt::format(" (commit {}, {})", build.commit, build.date);
        context.term.out(fmt::format("perdure {}{}\n", version, from));
    }
    return ExitCode::ok;
}

}  // namespace perdure::cli
