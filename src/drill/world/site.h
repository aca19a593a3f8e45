// Site: one throw-away Perdure for a part of the drill, with small jobs running beside. Either
// `perdure up`, or a fleet: a server and a spare worker, to which further workers can be added.
// Everything is at its default except `hold`, which would be 5 minutes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "drill/world/api.h"
#include "drill/world/program.h"

namespace perdure::drill {

inline constexpr double hold_s = 5;

struct SiteOptions {
    std::string folder;
    bool is_fleet = false;
    std::size_t neighbours = 50;             // small jobs that run beside at any time
    bool unharmed = true;                    // nothing of what is done here may touch them
    std::vector<std::string> settings = {};  // NAME=VALUE
};

class Site {
public:
    static Result<std::unique_ptr<Site>> open(SiteOptions options);
    ~Site();
    Site(const Site&) = delete;
    Site& operator=(const Site&) = delete;

    const Api& api() const { return *api_; }
    const std::string& folder() const { return options_.folder; }
    std::uint16_t port() const { return port_; }
    // `up`, or the fleet's server.
    Program& program() { return *program_; }
    Result<void> start_program();

    struct WorkerOptions {
        std::string name;
        std::string queue;
        std::uint16_t port = 0;  // where it finds the server; 0: straight
        std::size_t slots = 2;
        std::vector<std::string> settings = {};
    };
    // With a state directory of its own, which a second one of that name inherits.
    Result<std::unique_ptr<Program>> start_worker(const WorkerOptions& options) const;

    // No more neighbours; waits for those that run. How many there were, or which was harmed.
    Result<std::size_t> see_neighbours_off();

private:
    explicit Site(SiteOptions options) : options_(std::move(options)) {}
    std::vector<std::string> settings() const;
    Result<void> start_spare();
    void keep_company();
    void top_up();
    bool ran_twice(const std::string& id) const;
    std::string harmed_neighbour() const;
    std::size_t neighbours_under_way() const;

    SiteOptions options_;
    std::uint16_t port_ = 0;
    std::unique_ptr<Api> api_;
    std::unique_ptr<Program> program_;
    std::unique_ptr<Program> spare_;
    std::vector<std::string> neighbours_;  // ids; of the thread below until it has ended
    std::atomic<bool> enough_ = false;
    std::thread company_;
};

}  // namespace perdure::drill
