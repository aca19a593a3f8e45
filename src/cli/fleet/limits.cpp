// perdure limits
// perdure limits set NAME MAX
#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>

#include "cli/answer.h"
#include "cli/fleet/fleet_commands.h"
#include "cli/table.h"

namespace perdure::cli {

ExitCode list_limits(Context& context) {
    const auto asked = ask_pages(context.api, context.term, {"/v1/limits", "limits", "after"});
    if (!asked) return asked.code;
    if (context.json()) {
        context.term.print(*asked.body);
        return ExitCode::ok;
    }
    Table table({"LIMIT", "TAKEN", "MAX"});
    for (const auto& limit : list_of(*asked.body, "limits"))
        table.add({text_of(limit, "name"), text_of(limit, "taken"), text_of(limit, "max")});
    if (table.empty()) {
        context.term.say("no limits; define one: perdure limits set licences 2");
        return ExitCode::ok;
    }
    context.term.out(table.text(context.term));
    return ExitCode::ok;
}

ExitCode set_limit(Context& context) {
    const auto name = context.args.text("name");
    const auto text = context.args.text("max");
    std::int64_t max = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), max);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size())
        return context.term.usage(fmt::format("a limit is a whole number, not \"{}\"", text));
    boost::json::object body;
    body["max"] = max;
    const ApiRequest request{.method = "PUT",
                             .target = "/v1/limits/" + escaped(name),
                             .body = boost::json::serialize(body)};
    const auto asked = ask(context.api, context.term, request);
    if (!asked) return asked.code;
    if (context.json())
        context.term.print(*asked.body);
    else
        context.term.say(fmt::format("limit {} is {}", name, max));
    return ExitCode::ok;
}

}  // namespace perdure::cli
