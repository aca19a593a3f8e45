// perdure version
#include <fmt/format.h>

#include <boost/json/object.hpp>

#include "base/version.h"
#include "cli/local/commands.h"

namespace perdure::cli {

ExitCode print_version(Context& context) {
    if (context.json()) {
        boost::json::object document;
        document["version"] = std::string(version);
        context.term.print(boost::json::value(std::move(document)));
    } else {
        context.term.out(fmt::format("perdure {}\n", version));
    }
    return ExitCode::ok;
}

}  // namespace perdure::cli
