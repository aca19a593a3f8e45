// GroupCommit: requests that arrive while a commit is under way share the next one, which is sent
// while the disk still syncs the one before.
//   C1  The outcome of a commit whose reply was lost is settled before anybody is answered.
//   C2  A group that fails as a whole is halved until the bad request is found: it hurts nobody
//       else. What waits, and in which order: RequestLanes.
//   T2  A group that makes a deadline ticks first, so that no wait ends early. If another server
//       was first, what stands behind the tick is sent again. A server that knows another one to
//       tick leaves it to that one: at each change of hands some time is lost.
//   T3  A server that has not been able to commit for 2 s says so.
//   P11 Nothing is acknowledged before its commit.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/log.h"
#include "core/timing.h"
#include "ports/clock.h"
#include "ports/gate.h"
#include "ports/store.h"
#include "ports/task.h"
#include "server/recovery/meter.h"
#include "server/request_lanes.h"

namespace perdure {

class GroupCommit {
public:
    // never: only for plays whose service time must not depend on real time.
    enum class LeadingTicks { where_deadlines_are_made, never };
    struct Options {
        std::size_t rows_max = 5'000;
        std::size_t lane_max = 100'000;  // rows that may wait in a lane; `overloaded` beyond
        Timing timing;
        LeadingTicks leading_ticks = LeadingTicks::where_deadlines_are_made;
    };
    // The newest service time that a reply has shown, and when it was first shown.
    struct Seen {
        ServiceTick clock;
        BootTime at;
        std::optional<BootTime> sent_at = {};  // if it is this server's own tick
        bool of_another = false;               // another server has made it meanwhile
    };
    using Fatal = std::function<void(std::string why)>;

    GroupCommit(Store& store, Clock& clock, Options options, Fatal fatal, Log log);

    // Begins this server's life in the store; waits until the store answers.
    Task<void> open(ServerId server, Stop& stop);
    Task<void> run(Stop& stop);
    Task<void> watch_deadlines(Stop& stop);

    // Answers after the commit. The changes of one call stay together and in order. A `Tick`
    // without content is made up when it is sent.
    Task<ChangeReply> commit(Lane lane, Change change);
    Task<std::vector<ChangeReply>> commit_all(Lane lane, std::vector<Change> changes);
    // What a worker says of its attempts. A repetition takes the place of what it repeats, while
    // that still waits.
    Task<std::vector<ChangeReply>> commit_report(SessionId worker, std::vector<Change> changes);

    JobId next_job_id();
    SessionId next_session_id();
    const Seen& seen() const { return seen_; }
    // What a reply has shown, and when it was asked for. Notices a store that has lost commits
    // (C6); a read that a later reply has overtaken says nothing.
    void saw(const ServiceTick& clock, BootTime asked_at);
    bool healthy() const;
    // The newest tick that no crash can take back (T4): all that a worker may be told.
    std::uint64_t written_tick() const { return written_tick_; }
    // As of the service time that was seen, if that was a reply of ours.
    const KeeperRole& keeper() const { return keeper_; }
    // Some attempt may be overdue, as far as the last reply tells.
    bool attempts_overdue() const { return attempts_overdue_; }
    // A group could not finish, as far as the last reply tells: whatever is committed goes on (C8).
    bool owes() const { return owes_; }
    // Rung whenever a commit made something `ready`: a hint, nothing depends on it.
    void on_work(Alarm& alarm) { work_alarm_ = &alarm; }
    // Rung whenever anything but renewals, ticks and claims was committed.
    void on_activity(Alarm& alarm) { activity_alarm_ = &alarm; }
    // Told of every repair that is committed, and of the starts after it.
    void on_recoveries(RecoveryMeter& meter) { meter_ = &meter; }

    // Shown every change that was committed, with its reply.
    using Watcher = std::function<void(const Change&, const ChangeReply&)>;
    void on_commit(Watcher watcher) { watcher_ = std::move(watcher); }

private:
    // Requests of which one hurts the others, and what the store said to all of them.
    struct Bad {
        CommitBatch batch;
        Error why;
    };
    static constexpr Duration store_retry = milliseconds(100);
    // A group that is with the store. One is carried out while the disk syncs the other.
    static constexpr std::size_t flights_max = 2;
    struct Flight {
        CommitBatch batch;
        std::uint64_t number = 0;
        bool was_alone = true;  // when it was sent
        BootTime asked_at;
        std::optional<ServiceTick> tick;  // that it makes, if it counts
        std::optional<Result<GroupReply>> reply;
    };

    Task<std::vector<ChangeReply>> commit(std::unique_ptr<CommitRequest> request);
    bool is_idle() const;
    void send_what_waits();
    CommitBatch led_by_a_tick(CommitBatch batch) const;
    Flight& add_flight(CommitBatch batch);
    Task<void> carry(Flight& flight);
    Task<void> ask(Flight& flight);
    void acknowledge_too_early(CommitBatch& batch);
    void take_in_order();
    bool is_in_trouble() const;
    Task<void> sort_out();
    Task<void> resolve();
    CommitBatch resolve(Flight& flight, Bad& bad);
    Task<void> execute(CommitBatch batch);
    Task<void> execute_halves(Bad bad);
    Task<bool> settle();
    void take_committed(Flight& flight);
    CommitBatch take_lost_replies(Flight& flight);
    void answer(CommitRequest& request, std::vector<ChangeReply> replies);
    void refuse(CommitRequest& request, const Error& why);
    void refuse(CommitBatch& batch, const Error& why);
    static Error why_late(const Flight& flight);
    void put_back(CommitBatch batch);
    Group group_of(Flight& flight);
    Tick next_tick(const Flight& flight) const;
    struct SentTick {
        ServiceTick clock;
        BootTime at;
    };
    void saw_own_tick(const SentTick& sent);
    void note_written(std::uint64_t tick);
    void note_recoveries(const CommitBatch& batch, const GroupReply& reply);
    void note_activity(const CommitBatch& batch, bool work_appeared);

    Store& store_;
    Clock& clock_;
    Options options_;
    Fatal fatal_;
    Log log_;
    std::unique_ptr<Alarm> alarm_;
    std::unique_ptr<Alarm> deadline_alarm_;
    std::unique_ptr<Alarm> settle_alarm_;
    Alarm* work_alarm_ = nullptr;
    Alarm* activity_alarm_ = nullptr;
    Watcher watcher_;
    RecoveryMeter* meter_ = nullptr;
    ServerId server_;
    std::optional<IdSource> ids_;
    std::uint64_t number_ = 0;
    std::uint64_t fence_ = 0;
    Seen seen_;
    bool attempts_overdue_ = false;
    bool owes_ = false;
    KeeperRole keeper_;
    std::uint64_t written_tick_ = 0;
    BootTime written_at_;                // when a reply showed it
    std::optional<SentTick> lost_tick_;  // the newest that was committed without an answer
    BootTime opened_at_;                 // the store's first reply in this life
    RequestLanes lanes_;
    BootTime good_at_;  // the last commit, or the last time nothing waited
    std::deque<std::unique_ptr<Flight>> flights_;  // in the order of their numbers
    bool is_sorting_out_ = false;
    bool is_stopping_ = false;
    Gate carriers_;
};

}  // namespace perdure
