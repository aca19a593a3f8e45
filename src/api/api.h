// Api: what every handler has at hand. Lives as long as the server's loop.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "api/access_control.h"
#include "api/bells.h"
#include "api/http/byte_budget.h"
#include "api/metrics.h"
#include "api/space_watch.h"
#include "base/log.h"
#include "core/access/wrong_tokens.h"
#include "ports/backup.h"
#include "ports/blobs.h"
#include "ports/catalogue.h"
#include "ports/clock.h"
#include "ports/damage.h"
#include "server/server.h"

namespace perdure {

struct ApiOptions {
    std::string address = "127.0.0.1";
    std::uint16_t port = 7373;        // 0: any free one
    bool without_protection = false;  // listen also where other machines can connect
    std::string socket = {};  // directory in which the unix socket `api` is made; empty: none
    AccessOptions access = {};
    std::string version = "0";
    std::string store = "memory";  // its name, for people
    std::size_t connections_max = 12'000;
    std::size_t body_max = std::size_t{16} << 20;
    std::size_t bytes_in_flight = std::size_t{64} << 20;  // of all connections together
    Duration header_timeout = seconds(10);
    Duration body_timeout = seconds(30);
    Duration body_stall = seconds(5);  // between two pieces of a body
    Duration idle_timeout = minutes(5);
    Duration write_timeout = seconds(10);
    // Gives memory that is free back to the system. May be empty.
    std::function<void()> release_memory;
    // What the process knows beside the server. May be empty.
    std::function<void(MetricsText&)> append_metrics;
    Timing timing;
    const Space* space = nullptr;  // of the store, if it is short of any
    std::uint64_t space_reserve = 0;
    BackupService* backups = nullptr;  // of the store, if it makes them itself
    // Why nothing may be changed, for people; empty: everything may.
    std::string reads_only;
    DamageService* damage = nullptr;  // of the store, if its rows can be damaged
};

struct Api {
    Api(Server& s, Catalogue& c, Blobs& b, Clock& k, Log l, ApiOptions o)
        : server(s),
          catalogue(c),
          blobs(b),
          clock(k),
          log(std::move(l)),
          options(std::move(o)),
          access(options.access),
          started_at(k.boot()),
          bytes(std::make_shared<ByteBudget>(options.bytes_in_flight)),
          space(options.space, options.space_reserve) {}

    Server& server;
    Catalogue& catalogue;
    Blobs& blobs;
    Clock& clock;
    Log log;
    ApiOptions options;
    AccessControl access;
    BootTime started_at;
    bool stopping = false;
    std::shared_ptr<ByteBudget> bytes;
    SpaceWatch space;
    std::array<char, std::size_t{16} << 10> discarded;  // where refused bodies are read to
    Metrics metrics;
    Bells bells;
    WrongTokens wrong_tokens;
};

}  // namespace perdure
