// perdure up | server | worker: in the foreground, under a watchdog.
// perdure child-server | child-worker: what the watchdog starts.
#include "cli/local/commands.h"

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
    for (const auto* flag : {"quick", "backlog", "keep"})
        if (context.args.flag(flag)) words.push_back(std::string("--") + flag);
    if (const auto dir = context.args.one("dir")) words.insert(words.end(), {"--dir", *dir});
    return context.backstage.bench(context.configuration, words);
}

}  // namespace perdure::cli
