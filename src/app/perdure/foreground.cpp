#include "app/perdure/foreground.h"

#include <fmt/format.h>
#include <unistd.h>

#include "watchdog/watchdog.h"

namespace perdure {
namespace {

void say(const std::string& sentence) {
    const auto line = "perdure: " + sentence + "\n";
    // One write: the children use the same terminal.
    (void)!::write(STDERR_FILENO, line.data(), line.size());
}

// The drain, the kill grace and some time to report.
Duration worker_stop_limit(const Timing& timing) {
    return timing.drain + timing.kill_grace + seconds(10);
}

struct Foreground {
    cli::Role role;
    const Configuration& configuration;
    std::string url;
    std::size_t ready = 0;
    bool announced = false;
};

WatchedChild child_of(Foreground& foreground, cli::Role role) {
    const bool is_worker = role == cli::Role::worker;
    return {.name = is_worker ? "worker" : "server",
            // The very file that runs now, also if an upgrade has replaced it: parent and child
            // must be of one version.
            .program = "/proc/self/exe",
            .words = [&foreground,
                      role] { return child_words(role, foreground.configuration, foreground.url); },
            .stop_limit =
                is_worker ? worker_stop_limit(foreground.configuration.config.timing) : seconds(10),
            .detaches = is_worker};
}

}  // namespace

std::vector<std::string> child_words(cli::Role role, const Configuration& configuration,
                                     const std::string& url) {
    std::vector<std::string> words = {"perdure",
                                      role == cli::Role::worker ? "child-worker" : "child-server"};
    for (auto& flag : as_flags(configuration)) words.push_back(std::move(flag));
    if (!url.empty()) {
        const auto& data = configuration.config.data;
        const bool has_socket = data.find(',') == std::string::npos;
        const auto where = has_socket ? "unix:" + data + "/api" : url;
        words.insert(words.end(), {"--set", "server.urls=" + where});
        words.insert(words.end(), {"--set", "server.listen=" + url.substr(url.find("//") + 2)});
    }
    return words;
}

std::string ready_line(cli::Role role, const Config& config, const std::string& url) {
    const auto worker =
        fmt::format("worker {} with {} slots", config.worker_name, config.worker_slots);
    const auto* store = config.is_on_postgres() ? "postgres" : "sqlite";
    switch (role) {
        case cli::Role::up:
            return fmt::format(
                "perdure is ready: {} (data {}, store {}, {}); try: perdure run "
                "-- echo hello",
                url, config.data, store, worker);
        case cli::Role::server:
            return fmt::format(
                "perdure is ready: {} (data {}, store {}); next: perdure worker "
                "--server {}",
                url, config.data, store, url);
        case cli::Role::worker:
            return fmt::format("perdure is ready: {} for {}", worker,
                               fmt::join(config.servers, ", "));
    }
    return "perdure is ready";
}

ExitCode run_in_foreground(cli::Role role, const Configuration& configuration) {
    Foreground foreground{role, configuration, "", 0, false};
    WatchdogOptions options;
    if (role != cli::Role::worker)
        options.children.push_back(child_of(foreground, cli::Role::server));
    if (role != cli::Role::server)
        options.children.push_back(child_of(foreground, cli::Role::worker));
    if (::geteuid() == 0 && configuration.config.worker_user.empty())
        say("warning: this runs as root, and so does every job: whoever may submit owns this "
            "machine. Use an account of its own, or --user (docs/security.md)");
    const auto last = options.children.size() - 1;
    options.say = say;
    options.manager = ServiceManager::from_environment();
    options.ready = [&](std::size_t child, const std::string& words) {
        if (child == 0 && role != cli::Role::worker) foreground.url = words;
        if (child != last || foreground.announced) return;
        foreground.announced = true;
        if (role != cli::Role::server) say("worker " + words);
        const auto line = ready_line(role, configuration.config, foreground.url) + "\n";
        (void)!::write(STDERR_FILENO, line.data(), line.size());
    };
    return static_cast<ExitCode>(run_watchdog(std::move(options)));
}

}  // namespace perdure
