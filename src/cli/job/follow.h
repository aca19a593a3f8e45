// Following a job: its output to standard output, whatever happens to the connection, until it has
// ended or the person has had enough.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>

#include "cli/command_context.h"

namespace perdure::cli {

struct Followed {
    enum class How { ended, detached, refused } how = How::ended;
    boost::json::value job;        // if it has ended
    ExitCode code = ExitCode::ok;  // if refused: it has been said
};

struct FollowOptions {
    std::int64_t first_attempt = 1;
    bool show_output = true;
    bool owner = false;  // Ctrl-C asks whether to cancel; otherwise it just ends the watching
};

// Reconnects as long as it takes and goes on at the byte where it stopped; says so once.
Followed follow(Context& context, const std::string& id, const FollowOptions& options);

// The exit code of `run`: the job's own if it has one (docs/cli.md).
ExitCode exit_code_of_job(const boost::json::value& job);
// Of an attempt: what of its output was not kept, or not delivered. Empty: nothing is missing.
std::string undelivered_of(const boost::json::value& attempt);
// On standard error, so that nobody takes a part for the whole. True: something is missing.
bool say_what_is_missing(Terminal& term, const boost::json::value& job,
                         std::optional<std::int64_t> only = std::nullopt);
// "failed: exit code 3 after 2 attempts", for the person.
std::string how_it_ended(const boost::json::value& job);

}  // namespace perdure::cli
