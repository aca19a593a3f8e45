// Fleet: the bench as many workers at once, by docs/protocol/worker.md: a session, a stream and a
// heartbeat every two seconds for each, from one thread. Their calls share some connections.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/deadline.h"
#include "bench/workers/call_pool.h"
#include "bench/workers/worker_messages.h"

namespace perdure::bench {

struct FleetOptions {
    std::uint16_t port = 0;
    std::size_t workers = 1;
    std::size_t slots = 1;  // of each
    // The offer of a worker in one of its turns, as JSON; empty: it takes everything.
    std::function<std::string(std::size_t worker, std::size_t turn)> offer;
    // A worker that has ended so many jobs sends a heartbeat with the offer of its next turn;
    // 0: it has one turn.
    std::size_t jobs_in_turn = 0;
};

class Fleet {
public:
    // With a session for each, and no stream yet: nothing is assigned.
    static Result<std::unique_ptr<Fleet>> open(FleetOptions options, const Deadline& deadline);

    // Ends what is assigned at once, until so many have ended or the time is over. How many have.
    Result<std::size_t> drain(std::size_t jobs, const Deadline& deadline);
    // Reports `what` of everything assigned (has_started, or asks), until so many run. Workers come
    // some at a time, the next when those before them are full: it is no rush.
    Result<std::size_t> take(std::size_t jobs, std::string_view what, const Deadline& deadline);
    // Nothing but heartbeats, for so long. How many were answered.
    Result<std::size_t> keep_alive(double seconds);
    // Attempts that were given up before their first report came: the server, or the bench, was
    // too slow. Such a job is assigned again.
    std::size_t fenced() const { return fenced_; }

private:
    struct Worker {
        std::string session;
        std::string offer;
        std::string text;  // of the stream, not yet used
        std::vector<Assigned> attempts;
        std::string list;  // of these, if it is not empty
        std::uint64_t heartbeats = 0;
        std::uint64_t seen = 0;
        std::size_t turn = 0;
        std::size_t ended_in_turn = 0;
        bool is_beating = false;  // a heartbeat is not answered yet
        bool beats_again = false;
    };

    explicit Fleet(FleetOptions options) : options_(std::move(options)) {}
    Result<void> open_sessions(const Deadline& deadline);
    Result<void> open_streams(std::size_t workers);
    Result<void> turn();
    Result<void> take_from_stream(Worker& worker, std::string_view bytes);
    void report(Worker& worker, std::vector<Assigned> attempts);
    Result<void> take_answers(Worker& worker, const std::vector<Assigned>& told,
                              std::string_view body);
    void count_ended(Worker& worker, std::size_t jobs);
    void beat(Worker& worker);
    Result<void> take_beat(Worker& worker, std::string_view body);
    void beat_whose_time_has_come();
    std::string offer_of(std::size_t worker, std::size_t turn) const;

    FleetOptions options_;
    std::unique_ptr<CallPool> calls_;
    std::vector<Worker> workers_;
    Stopwatch clock_;
    std::size_t beats_due_ = 0;  // heartbeats begun so far; they go round
    std::size_t beats_answered_ = 0;
    std::size_t streams_ = 0;  // the first so many workers have one
    std::string_view what_;    // is reported of assignments
    std::size_t fenced_ = 0;
    std::size_t reported_ = 0;  // and so many times it was accepted
};

}  // namespace perdure::bench
