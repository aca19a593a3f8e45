// Config: everything that can be set about Perdure's own processes, as the programs use it.
// How it comes about (default, file, environment, flag) is resolve.h; what there is to set, with
// names and descriptions, is the table in settings.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/log.h"
#include "core/job/turns.h"
#include "core/ownership/timing.h"
#include "core/policy/policy_book.h"

namespace perdure {

// A profile changes defaults, and what is refused; nothing else.
enum class Profile { development, production };
enum class LogFormat { logfmt, json };

struct Config {
    Profile profile = Profile::development;
    std::string data;              // the server's directory
    std::string store = "sqlite";  // or the address of a PostgreSQL
    std::string store_schema = "perdure";
    std::string listen;                     // HOST:PORT
    std::vector<std::string> servers;       // URLs, for clients and workers
    std::vector<std::string> server_users;  // accounts whose server is believed
    std::string token_file;                 // of clients and workers
    std::vector<std::string> access_users;  // NAME or NAME:ROLE
    bool trusts_root = true;
    std::uint64_t bytes_in_flight = std::uint64_t{64} << 20;  // of all connections (C8)

    std::uint64_t space_reserve = std::uint64_t{256} << 20;  // of the data's disk

    std::string worker_name;
    std::uint32_t worker_slots = 1;
    std::vector<std::string> worker_tenants;  // at least one
    std::vector<std::string> worker_queues;   // empty: all
    std::vector<std::string> worker_kinds;    // empty: all that it can run
    std::string worker_path;                  // PATH of jobs
    std::vector<std::string> worker_env;      // NAME=VALUE, or NAME for its own value
    std::string worker_state;                 // directory
    std::string worker_user;                  // name, uid or `submitter`; empty: the worker's own
    bool worker_root_submitters = false;
    std::string worker_secrets;                      // directory
    std::string worker_cgroup;                       // empty: below the worker's own
    std::string webhook_secrets;                     // directory
    std::vector<std::string> webhook_allow_private;  // networks

    Timing timing;

    std::string policy;   // of jobs that inherit none from kind or queue, on a worker without one
    PolicyBook policies;  // all of them, `policy` included
    QueueWeights weights;
    Level failure_level = Level::error;
    Level callback_failure_level = Level::critical;

    Level log_level = Level::info;
    LogFormat log_format = LogFormat::logfmt;
    std::string log_file;  // empty: standard error

    std::vector<std::string> faults;  // fault points to arm (base/fault.h)
    bool allow_faults = false;        // in production, too

    bool is_on_postgres() const { return store != "sqlite"; }
};

}  // namespace perdure
