// Claimant: the bench as a worker, by docs/protocol/worker.md, so that the time of one claim can be
// seen from outside: report an end, and look when the next assignment comes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/workers/worker_messages.h"
#include "testbed/http_caller.h"

namespace perdure::bench {

struct ClaimantOptions {
    std::uint16_t port = 0;
    std::size_t life = 1;  // counts its starts; each is a new session of the same directory
    std::size_t slots = 1;
    std::size_t directory = 1;  // another number is another worker
};

class Claimant {
public:
    static Result<std::unique_ptr<Claimant>> open(const ClaimantOptions& options);

    // Blocks until it comes. Renews the lease meanwhile. It is ours until it is ended.
    Result<Assigned> next();
    // Asks for the go and has it: from now on it runs, for the server.
    Result<void> start(const Assigned& attempt);
    Result<void> end(const Assigned& attempt);
    // By an exit code of its own; the job's policy says what comes next.
    Result<void> fail(const Assigned& attempt);
    // Every two seconds or so, or the lease is lost.
    Result<void> heartbeat();

private:
    Claimant(HttpCaller calls, HttpCaller stream, std::size_t slots)
        : calls_(std::move(calls)), stream_(std::move(stream)), slots_(slots) {}
    Result<std::string> call(std::string_view target, const std::string& body);
    Result<void> report(const Assigned& attempt, std::string_view what, std::string_view answer);
    Result<void> report_end(const Assigned& attempt, std::string_view what);

    HttpCaller calls_;
    HttpCaller stream_;
    std::size_t slots_;
    std::string session_;
    std::string text_;  // of the stream, not yet used
    std::uint64_t heartbeats_ = 0;
    std::uint64_t seen_ = 0;
    std::vector<Assigned> come_;      // not yet given out
    std::vector<Assigned> attempts_;  // given out, not yet ended
};

}  // namespace perdure::bench
