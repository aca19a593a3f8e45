// GroupCommit: puts requests together into groups and answers whoever waits for them. Requests that
// arrive while a commit is under way share the next one. What waits, and in which order, is in
// RequestLanes; GroupSender brings a group to the store and finds out what became of it (C1, C2).
//   T2  A group that makes a deadline ticks first, so that no wait ends early. If another server
//       was first, what stands behind the tick is sent again. A server that knows another one to
//       tick leaves it to that one: at each change of hands some time is lost.
//   T3  A server that has not been able to commit for 2 s says so.
//   P11 Nothing is acknowledged before its commit, and nobody waits for more than 5 s.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/log.h"
#include "core/ownership/timing.h"
#include "ports/clock.h"
#include "ports/gate.h"
#include "ports/store.h"
#include "ports/task.h"
#include "server/group_sender.h"
#include "server/job_meter.h"
#include "server/recovery/meter.h"
#include "server/request_lanes.h"
#include "server/seen_ticks.h"

namespace perdure {

// What a committed group means for whoever claims.
struct CommittedWork {
    bool appeared = false;            // something is `ready` that was not
    std::set<SessionId> claimed_for;  // by the group itself, when all this had happened
    std::set<SessionId> ended;        // an attempt of theirs has ended: a slot is free
    std::set<SessionId> heard;        // by a heartbeat, which may say anything
};
// A hint, nothing depends on it.
class WorkListener {
public:
    virtual ~WorkListener() = default;
    virtual void note(const CommittedWork& work) = 0;
    virtual void wake() = 0;  // the server is not well: see healthy()
};

class GroupCommit final : private GroupSender::Owner {
public:
    // never: only for plays whose service time must not depend on real time.
    enum class LeadingTicks { where_deadlines_are_made, never };
    struct Options {
        std::size_t rows_max = 5'000;
        std::size_t lane_max = 100'000;  // rows that may wait in a lane; `overloaded` beyond
        Timing timing;
        LeadingTicks leading_ticks = LeadingTicks::where_deadlines_are_made;
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
    const SeenTicks::Newest& seen() const { return seen_.newest(); }
    // What a reply has shown, and when it was asked for. Notices a store that has lost commits
    // (C6); a read that a later reply has overtaken says nothing.
    void saw(const ServiceTick& clock, BootTime asked_at);
    bool healthy() const;
    // The newest tick that no crash can take back (T4): all that a worker may be told.
    std::uint64_t written_tick() const { return seen_.written(); }
    // As of the service time that was seen, if that was a reply of ours.
    const KeeperRole& keeper() const { return keeper_; }
    // Some attempt may be overdue, as far as the last reply tells.
    bool attempts_overdue() const { return attempts_overdue_; }
    // Nothing is to be done for a while (T4).
    bool store_is_idle() const { return store_is_idle_; }
    // A group could not finish, as far as the last reply tells: whatever is committed goes on (C8).
    bool owes() const { return owes_; }
    void on_work(WorkListener& listener) { work_listener_ = &listener; }
    // Rung whenever anything but renewals, ticks and claims was committed.
    void on_activity(Alarm& alarm) { activity_alarm_ = &alarm; }
    // Told of every repair that is committed, and of the starts after it.
    void on_recoveries(RecoveryMeter& meter) { meter_ = &meter; }
    // Told what each commit has done to jobs.
    void on_events(JobMeter& meter) { job_meter_ = &meter; }

    // Shown every change that was committed, with its reply.
    using Watcher = std::function<void(const Change&, const ChangeReply&)>;
    void on_commit(Watcher watcher) { watcher_ = std::move(watcher); }

private:
    Task<std::vector<ChangeReply>> commit(std::unique_ptr<CommitRequest> request);
    bool is_idle() const { return lanes_.empty() && sender_.is_idle(); }
    void send_what_waits();
    void acknowledge_too_early(CommitBatch& batch);
    void answer(CommitRequest& request, std::vector<ChangeReply> replies);
    void note_recoveries(const CommitBatch& batch, const GroupReply& reply);
    void note_activity(const CommitBatch& batch, bool work_appeared);

    CommitBatch led_by_a_tick(CommitBatch batch) const override;
    Tick next_tick(BootTime now, const std::optional<SentTick>& ahead) const override;
    void committed(SentGroup& group) override;
    void committed_unanswered(const SentGroup& group) override;
    void refuse(CommitRequest& request, const Error& why) override;
    void send_again(CommitBatch batch) override;
    void has_room() override;
    void fenced_off(const std::string& why) override;

    Store& store_;
    Clock& clock_;
    Options options_;
    Fatal fatal_;
    std::unique_ptr<Alarm> alarm_;
    std::unique_ptr<Alarm> deadline_alarm_;
    WorkListener* work_listener_ = nullptr;
    Alarm* activity_alarm_ = nullptr;
    Watcher watcher_;
    RecoveryMeter* meter_ = nullptr;
    JobMeter* job_meter_ = nullptr;
    SeenTicks seen_;
    bool attempts_overdue_ = false;
    bool store_is_idle_ = false;
    bool owes_ = false;
    KeeperRole keeper_;
    RequestLanes lanes_;
    BootTime good_at_;  // the last commit, or the last time nothing waited
    bool is_stopping_ = false;
    GroupSender sender_;
};

}  // namespace perdure
