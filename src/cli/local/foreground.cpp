// perdure up | server | worker: in the foreground, under a watchdog.
// perdure child-server | child-worker: what the watchdog starts.
#include "cli/local/local_commands.h"

namespace perdure::cli {

ExitCode keep_up(Context& context) {
    return context.backstage.keep_running(Role::up, context.configuration);
}
ExitCode keep_server(Context& context) {
    return context.backstage.keep_running(Role::server, context.configuration);
}
ExitCode keep_worker(Context& context) {
    return context.backstage.keep_running(Role::worker, context.configuration);
}
ExitCode be_server(Context& context) {
    return context.backstage.run_child(Role::server, context.configuration);
}
ExitCode be_worker(Context& context) {
    return context.backstage.run_child(Role::worker, context.configuration);
}
ExitCode run_bench(Context& context) {
    std::vector<std::string> words;
    if (context.json()) words.push_back("--json");
    for (const auto* flag : {"quick", "backlog", "scale", "keep"})
        if (context.args.flag(flag)) words.push_back(std::string("--") + flag);
    for (const auto* option : {"dir", "waiting", "time-limit"})
        if (const auto value = context.args.one(option))
            words.insert(words.end(), {std::string("--") + option, *value});
    for (const auto& name : context.args.all("measure")) words.push_back(name);
    return context.backstage.bench(context.configuration, words);
}
ExitCode run_drill(Context& context) {
    std::vector<std::string> words;
    if (context.json()) words.push_back("--json");
    if (context.term.look().colour) words.push_back("--colour");
    if (context.term.look().width > 0) words.push_back("--live");
    for (const auto* flag : {"list", "quick", "keep"})
        if (context.args.flag(flag)) words.push_back(std::string("--") + flag);
    for (const auto* option : {"dir", "runs"})
        if (const auto value = context.args.one(option))
            words.insert(words.end(), {std::string("--") + option, *value});
    for (const auto& name : context.args.all("only")) words.insert(words.end(), {"--only", name});
    return context.backstage.drill(words);
}

}  // namespace perdure::cli
