// perdure compact --data DIR
#include <fmt/format.h>

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "cli/fleet/fleet_commands.h"
#include "cli/human.h"
#include "cli/table.h"

namespace perdure::cli {

ExitCode compact_store(Context& context) {
    const auto done = context.backstage.compact(
        context.configuration.config, [&](std::uint64_t bytes, std::uint64_t total) {
            if (total > 0)
                context.term.passing(
                    fmt::format("{} % of {}", bytes * 100 / total, spoken_size(total)));
        });
    if (!done) return context.term.fail(done.error());
    if (context.json()) {
        boost::json::array files;
        for (const auto& file : *done)
            files.push_back({{"file", file.name},
                             {"bytes_before", static_cast<std::int64_t>(file.before)},
                             {"bytes", static_cast<std::int64_t>(file.after)}});
        context.term.print(boost::json::object{{"files", std::move(files)}});
        return ExitCode::ok;
    }
    Table table({"FILE", "BEFORE", "NOW", "GIVEN BACK"});
    for (const auto& file : *done)
        table.add({file.name, spoken_size(file.before), spoken_size(file.after),
                   spoken_size(file.before - std::min(file.before, file.after))});
    context.term.out(table.text(context.term));
    return ExitCode::ok;
}

}  // namespace perdure::cli
