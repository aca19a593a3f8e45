// perdure token create NAME, token list, token revoke NAME
// perdure audit
#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "cli/answer.h"
#include "cli/fleet/fleet_commands.h"
#include "cli/table.h"

namespace perdure::cli {
namespace {

constexpr std::string_view access_group = "Access";

}  // namespace

void add_access(std::vector<Command>& all) {
    all.push_back({.path = "token",
                   .group = access_group,
                   .summary = "tokens for who has no account here: other hosts, proxies, services",
                   .example = "  perdure token list"});
    all.push_back(
        {.path = "token create",
         .group = access_group,
         .summary = "make a token; it is shown once, on standard output",
         .example = "  perdure token create prometheus --role viewer >token\n"
                    "  perdure token create shop --tenant shop --expires-in 90d",
         .words = {{"name", "how it is called in lists and in the audit log"}},
         .options = {{"--role", "ROLE", "viewer, submitter (default), operator, worker or admin"},
                     {"--tenant", "NAME", "for this tenant alone"},
                     {"--expires-in", "DURATION", "like 90d; never if left out"}},
         .settings = server_settings,
         .run = create_token});
    all.push_back({.path = "token list",
                   .group = access_group,
                   .summary = "all tokens, without their secrets",
                   .example = "  perdure token list --json",
                   .settings = server_settings,
                   .run = list_tokens});
    all.push_back({.path = "token revoke",
                   .group = access_group,
                   .summary = "end a token at once",
                   .example = "  perdure token revoke prometheus",
                   .words = {{"name", "of the token"}},
                   .settings = server_settings,
                   .run = revoke_token});
    all.push_back({.path = "audit",
                   .group = access_group,
                   .summary = "who did what, and who was refused, newest first",
                   .example = "  perdure audit --limit 20\n  perdure audit --about 06na5x0g00000",
                   .options = {{"--limit", "N", "so many on a page; 50 if left out"},
                               {"--about", "WORD", "only lines with this word: a job, a name"},
                               {"--before", "N", "only lines older than this one"}},
                   .settings = server_settings,
                   .run = show_audit});
}

ExitCode create_token(Context& context) {
    boost::json::object body{{"name", context.args.text("name")}};
    if (const auto role = context.args.one("role")) body["role"] = *role;
    if (const auto tenant = context.args.one("tenant")) body["tenant"] = *tenant;
    if (const auto expiry = context.args.one("expires-in")) body["expires_in"] = *expiry;
    const auto asked =
        ask(context.api, context.term,
            {.method = "POST", .target = "/v1/tokens", .body = boost::json::serialize(body)});
    if (!asked) return asked.code;
    if (context.json()) {
        context.term.print(*asked.body);
        return ExitCode::ok;
    }
    context.term.out(text_of(*asked.body, "token") + "\n");
    context.term.say(
        "keep it in a file that only its user can read, and name that in "
        "PERDURE_TOKEN_FILE; it is not shown again");
    return ExitCode::ok;
}

ExitCode list_tokens(Context& context) {
    const auto asked = ask(context.api, context.term, {.target = "/v1/tokens"});
    if (!asked) return asked.code;
    if (context.json()) {
        context.term.print(*asked.body);
        return ExitCode::ok;
    }
    Table table({"TOKEN", "ROLE", "TENANT", "CREATED", "BY", "EXPIRES"});
    for (const auto& token : list_of(*asked.body, "tokens"))
        table.add({text_of(token, "name"), text_of(token, "role"), text_of(token, "tenant"),
                   text_of(token, "created_at"), text_of(token, "created_by"),
                   text_of(token, "expires_at")});
    if (table.empty())
        context.term.say("no tokens; make one: perdure token create prometheus --role viewer");
    else
        context.term.out(table.text(context.term));
    return ExitCode::ok;
}

ExitCode revoke_token(Context& context) {
    const auto name = context.args.text("name");
    const auto asked =
        ask(context.api, context.term,
            {.method = "POST", .target = fmt::format("/v1/tokens/{}/revoke", escaped(name))});
    if (!asked) return asked.code;
    if (context.json())
        context.term.print(*asked.body);
    else
        context.term.say(fmt::format("token {} is of no use any more", name));
    return ExitCode::ok;
}

ExitCode show_audit(Context& context) {
    auto target =
        fmt::format("/v1/audit?limit={}", escaped(context.args.one("limit").value_or("50")));
    for (const auto* name : {"about", "before"})
        if (const auto given = context.args.one(name))
            target += fmt::format("&{}={}", name, escaped(*given));
    const Pages pages{target, "records", "before", Pages::Until::lines};
    const auto asked = ask_pages(context.api, context.term, pages);
    if (!asked) return asked.code;
    if (context.json()) {
        context.term.print(*asked.body);
        return ExitCode::ok;
    }
    Table table({"AT", "WHO", "STATUS", "ACTION", "ABOUT", "RULE"});
    for (const auto& record : list_of(*asked.body, "records"))
        table.add({text_of(record, "at"), text_of(record, "who"), text_of(record, "status"),
                   text_of(record, "action"), text_of(record, "subject"), text_of(record, "rule")});
    if (table.empty()) {
        context.term.say(context.args.one("about") ? "no line has this word"
                                                   : "nothing was changed or refused yet");
        return ExitCode::ok;
    }
    context.term.out(table.text(context.term));
    if (has(*asked.body, "next"))
        context.term.say(fmt::format("there are more: --before {}", text_of(*asked.body, "next")));
    return ExitCode::ok;
}

}  // namespace perdure::cli
