// perdure faults
// Every place at which Perdure can be told to fail.
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/fault.h"
#include "cli/local/local_commands.h"
#include "cli/table.h"

namespace perdure::cli {

ExitCode list_faults(Context& context) {
    if (context.json()) {
        boost::json::array points;
        for (const auto& point : fault_points)
            points.push_back(boost::json::object{{"name", std::string(point.name)},
                                                 {"what", std::string(point.sentence)}});
        context.term.print(boost::json::object{{"faults", std::move(points)}});
        return ExitCode::ok;
    }
    Table table({"FAULT POINT", "WHAT HAPPENS THERE"});
    for (const auto& point : fault_points)
        table.add({std::string(point.name), std::string(point.sentence)});
    context.term.out(table.text(context.term));
    context.term.say("arm one like this: --set debug.faults=worker.after_spawn=100%x1");
    return ExitCode::ok;
}

}  // namespace perdure::cli
