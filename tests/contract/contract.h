// The fixture of the contract suite: one store, two servers, and short words for what servers and
// workers do, so that a test reads like the sentence in its name. Each act is a group of its own,
// with the right number, unless a test says otherwise. At the end of every test the whole store
// is audited (audit.h).
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "ports/pieces.h"
#include "ports/store.h"
#include "tests/contract/store_factory.h"

namespace perdure::contract {

// How attempts end.
AttemptEnd success();
AttemptEnd exit_with(std::int32_t code);
AttemptEnd crash();
AttemptEnd conflict_with_somebody();  // policy: again at once
AttemptEnd wants_to_run_at(WallTime date);
AttemptEnd did_not_run();

// What jobs ask for.
struct Wanted {
    static JobSpec job();
    static JobSpec keyed(const std::string& key);
    static JobSpec limited(const std::string& limit);
    static JobSpec once();
    static JobSpec resumable();
};

// A server's side of the store: its row's numbers.
struct TestServer {
    ServerId id;
    std::uint64_t last_group = 0;
    std::uint64_t fence = 0;
};

class StoreContract : public testing::TestWithParam<StoreFactory> {
protected:
    // Views show what is written: nothing is left for later.
    explicit StoreContract(const Timing& with = {.unwritten = {}});
    void TearDown() override;

    // Runs a task to its end.
    template <class T>
    T run(Task<T> task) {
        std::optional<T> result;
        boost::asio::co_spawn(loop_, keep(std::move(task), result), [](std::exception_ptr failure) {
            PERDURE_ASSERT(failure == nullptr);
        });
        loop_.restart();
        loop_.run();
        PERDURE_ASSERT(result.has_value());
        return std::move(*result);
    }

    Store& store() { return *store_; }
    const Timing timing;
    WallTime wall{seconds(1'700'000'000).us};
    TestServer server;
    TestServer other_server;

    // Groups.
    TestServer open_server();
    Group group(const TestServer& by, std::vector<Change> changes);
    // All replies of one group, which must commit.
    GroupReply commit(TestServer& by, std::vector<Change> changes);
    GroupReply commit(std::vector<Change> changes) { return commit(server, std::move(changes)); }
    ChangeReply apply(Change change);
    // The value of a reply that must not be a refusal.
    template <class Reply>
    Reply get(const ChangeReply& reply) {
        EXPECT_TRUE(reply.has_value()) << (reply ? "" : reply.error().what);
        if (!reply || !std::holds_alternative<Reply>(*reply)) {
            ADD_FAILURE() << "the reply is of another kind";
            return {};
        }
        return std::get<Reply>(*reply);
    }

    // Time.
    ServiceTime now();
    void pass(Duration time);                  // nobody renews meanwhile
    void pass_with_heartbeats(Duration time);  // every open session renews

    // Jobs.
    // As a server draws them: in order of time (L3).
    std::uint64_t next_id() { return last_id_ = IdSource(0, last_id_).next(wall); }
    Submit submit_of(JobSpec spec);
    JobId submit(JobSpec spec);
    JobView job(JobId id);
    JobState state(JobId id) { return job(id).state; }
    AttemptView last_attempt(JobId id);
    void define_limit(const std::string& name, std::uint32_t max);

    // Sessions.
    struct Worker {
        std::string name = "worker-1";
        std::uint32_t slots = 8;
        Offer offer;
        std::string boot = "boot-1";
        std::shared_ptr<const PolicyChoice> policy = nullptr;
    };
    static StateDirectory directory_of(const Worker& worker);
    OpenSession open_session_of(const Worker& worker);
    SessionId open_session(const Worker& worker);
    SessionId open_session() { return open_session(Worker{}); }
    // A new life on the same directory that has all attempts of the old one on its disk.
    OpenSession takeover_of(SessionId previous, const Worker& worker);
    // Lists everything that the session has, as the store knows it.
    Heartbeat heartbeat_of(SessionId session);
    HeartbeatTaken send(const Heartbeat& heartbeat) {
        return get<HeartbeatTaken>(apply(heartbeat));
    }
    HeartbeatTaken send_heartbeat(SessionId session) { return send(heartbeat_of(session)); }
    // The same, and this attempt besides.
    HeartbeatTaken list(SessionId session, AttemptKey attempt,
                        Listed::Phase phase = Listed::Phase::running);
    SessionView session(SessionId id);

    // Attempts.
    ChangeReply try_claim(SessionId session, std::uint32_t max = 100);
    std::vector<Assignment> claim(SessionId session, std::uint32_t max = 100);
    AttemptKey claim_one(SessionId session);
    ChangeReply start(SessionId session, AttemptKey attempt);
    // Claimed and started.
    AttemptKey run_one(SessionId session);
    ChangeReply report(SessionId session, AttemptKey attempt, const AttemptEnd& end);
    void finish(SessionId session, AttemptKey attempt, const AttemptEnd& end);
    ChangeReply progress(SessionId session, AttemptKey attempt, Progress::Kind kind,
                         const std::string& checkpoint = "");

    // Sweeps, as a server does them.
    OverdueView overdue(std::uint32_t limit = 1'000);
    Sweep sweep_of(const OverdueView& overdue) { return {overdue.waiting, overdue.free_permits}; }
    Swept sweep() { return get<Swept>(apply(sweep_of(overdue()))); }
    // What a sweep would do now.
    Swept told();
    // Its session falls silent until the sweep gives the attempt up as presumed lost.
    void lose(AttemptKey attempt);

    AuditView audit();

private:
    template <class T>
    static Task<void> keep(Task<T> task, std::optional<T>& result) {
        result = co_await std::move(task);
    }

    boost::asio::io_context loop_;
    std::unique_ptr<Store> store_;
    std::uint64_t last_id_ = 0;
    std::uint64_t progress_number_ = 0;
    std::vector<SessionId> sessions_;
};

// Whether a reply is a refusal with this code.
testing::AssertionResult refused(const ChangeReply& reply, Errc code);

}  // namespace perdure::contract
