// Instance: a Perdure of the bench's own: this very program as `up` or `server` in real processes,
// with its data in a folder of the bench and a free port. Stopped when destroyed.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "testbed/child.h"
#include "testbed/http_caller.h"

namespace perdure::bench {

struct InstanceOptions {
    std::string role = "up";  // or "server": no worker
    std::string folder;
    std::size_t slots = 1;
    std::vector<std::string> settings;  // "timing.retention=1m"
    std::string preload;                // a library that its processes load first; empty: none
};

struct Memory {  // resident, MiB
    double server = 0;
    double worker = 0;
};

class Instance {
public:
    // Returns when it can commit and, for `up`, its worker has come.
    static Result<std::unique_ptr<Instance>> start(InstanceOptions options);
    ~Instance();
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    std::uint16_t port() const { return port_; }
    const InstanceOptions& options() const { return options_; }
    Result<boost::json::value> get(std::string_view target);
    Result<boost::json::value> post(std::string_view target, std::string_view body = {});
    Result<boost::json::value> put(std::string_view target, std::string_view body);
    // How many jobs of a queue are in which state, as the server keeps count.
    Result<std::map<std::string, std::size_t>> counts(std::string_view queue);
    // Blocks until that many jobs of the queue have succeeded. unavailable: one did not, or
    // nothing has ended for a minute.
    Result<void> wait_until_ended(std::string_view queue, std::size_t jobs);
    Result<void> pause(std::string_view queue, bool paused);
    Memory memory() const;
    // The watchdog, the server and, for `up`, the worker.
    std::vector<pid_t> processes() const;
    std::vector<pid_t> server_process() const;
    // How its worker holds trees together, in its own words.
    std::string containment() const;
    // As a power cut would: everything at once, without a word.
    void kill();

private:
    explicit Instance(InstanceOptions options) : options_(std::move(options)) {}
    Result<void> wait_until_ready(std::size_t log_before);
    Result<boost::json::value> call(std::string_view bytes);
    std::string log() const { return options_.folder + "/log"; }

    InstanceOptions options_;
    std::uint16_t port_ = 0;
    std::unique_ptr<Child> child_;
    std::unique_ptr<HttpCaller> caller_;
};

// The members of a JSON object that must be there; null otherwise.
const boost::json::value& member(const boost::json::value& object, std::string_view name);

}  // namespace perdure::bench
