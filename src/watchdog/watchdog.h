// Watchdog: the small parent of our own processes. It starts them, starts them again when they die,
// and stops them in order. It has one thread, so that the death signal of its children means its
// own death (L1), and it is a subreaper: what its children leave behind comes to it.
//   - Children end when it dies: the kernel kills them, and the channel to it ends.
//   - A child is started when those before it have been ready once; they are stopped in reverse.
//   - What is reparented to it and is no shim is a leftover and is killed (L2) [P8].
// Blocks SIGTERM, SIGINT, SIGHUP, SIGUSR1 and SIGCHLD and waits for any child: for a process of its
// own.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/time.h"
#include "watchdog/service_manager.h"

namespace perdure {

struct WatchedChild {
    std::string name;     // for people: "worker"
    std::string program;  // the file to run
    // What it is told, beginning with its own name; asked at each start.
    std::function<std::vector<std::string>()> words;
    Duration stop_limit = seconds(10);  // after SIGTERM; then SIGKILL
    bool detaches = false;              // is told SIGUSR1 instead, if the watchdog was
};

struct WatchdogOptions {
    std::vector<WatchedChild> children;
    // A child said that it is ready, at each start; with what it said besides.
    std::function<void(std::size_t child, const std::string& words)> ready;
    std::function<void(const std::string& sentence)> say;
    std::string shim_name = "perdure-shim";
    Duration harder_limit = seconds(10);  // after the second signal
    // Is told that all children have been ready once, that this process stops, and, if it wants a
    // sign of life, gets one only after every child's loop has given its own.
    ServiceManager manager;
};

// Returns the exit code of the whole when all children have ended for good.
// SIGTERM, SIGINT: stop; a second one: at once; a third one: kill. SIGUSR1: stop, and let what can
// do so detach (L2). SIGHUP goes to all children.
int run_watchdog(WatchdogOptions options);

}  // namespace perdure
