// GroupSender: brings groups to the store, the next one while the disk still syncs the one before,
// and finds out what became of each. It answers nobody: its owner does.
//   C1  The outcome of a group whose reply was lost is settled before anything is decided about it,
//       or about those that were sent behind it.
//   C2  A group that fails as a whole is halved until the bad request is found: the others are
//       committed without it.
//   L3  The highest id drawn so far is written with each group.
//   P11 Who has waited too long is told what is known: that nothing was done, or that it is not
//   known.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/log.h"
#include "ports/clock.h"
#include "ports/gate.h"
#include "ports/store.h"
#include "ports/task.h"
#include "server/request_lanes.h"
#include "server/seen_ticks.h"

namespace perdure {

// A group that is with the store.
struct SentGroup {
    CommitBatch batch;
    std::uint64_t number = 0;
    bool was_alone = true;  // when it was sent
    BootTime sent_at;
    std::optional<ServiceTick> tick;  // that it makes, if it counts
    std::optional<Result<GroupReply>> reply;
};

class GroupSender {
public:
    // Who forms the groups and answers those who wait for them.
    class Owner {
    public:
        virtual ~Owner() = default;
        // The batch, led by a tick if it needs one: each half of a group that failed does.
        virtual CommitBatch led_by_a_tick(CommitBatch batch) const = 0;
        // The content of a tick that is sent now, behind another one that is not answered yet.
        virtual Tick next_tick(BootTime now, const std::optional<SentTick>& ahead) const = 0;
        // What came of requests. Groups are told of in the order of their numbers.
        virtual void committed(SentGroup& group) = 0;  // it has a reply
        virtual void committed_unanswered(const SentGroup& group) = 0;
        virtual void refuse(CommitRequest& request, const Error& why) = 0;
        virtual void send_again(CommitBatch batch) = 0;
        // A group has left, and another one may be sent.
        virtual void has_room() = 0;
        // This server's life in the store is over.
        virtual void fenced_off(const std::string& why) = 0;
    };

    GroupSender(Store& store, Clock& clock, Owner& owner, Log log);

    // Begins this server's life in the store; tries until the store answers. Empty: it was stopped.
    Task<std::optional<ServerOpened>> open(ServerId server, Stop& stop, Alarm& pause);
    bool is_open() const { return ids_.has_value(); }
    std::uint64_t next_id() { return ids_->next(clock_.wall()); }

    // Nothing is under way, and nothing is to be settled.
    bool is_idle() const { return under_way_.empty() && !is_handling_failed_; }
    // Whether another group may be sent now.
    bool is_ready() const { return !is_in_trouble() && under_way_.size() < under_way_max; }
    void send(CommitBatch batch);
    // Lets the owner refuse requests under way whose deadline has passed.
    void refuse_late(BootTime now);
    std::vector<SentTick> ticks_under_way() const;

private:
    // Requests of which one hurts the others, and what the store said to all of them.
    struct Bad {
        CommitBatch batch;
        Error why;
    };
    static constexpr Duration store_retry = milliseconds(100);
    // One is carried out while the disk syncs the other.
    static constexpr std::size_t under_way_max = 2;

    SentGroup& add(CommitBatch batch);
    Task<void> carry(SentGroup& group);
    Task<void> ask(SentGroup& group);
    Group content_of(SentGroup& group) const;
    void take_in_order();
    void take_committed(SentGroup& group);
    bool is_in_trouble() const;
    Task<void> handle_failed_groups();
    Task<void> resolve();
    CommitBatch resolve(SentGroup& group, Bad& bad);
    Task<void> execute(CommitBatch batch);
    Task<void> execute_halves(Bad bad);
    Task<bool> find_last_group();
    CommitBatch take_unanswered(SentGroup& group);
    void refuse_all(CommitBatch& batch, const Error& why);

    Store& store_;
    Clock& clock_;
    Owner& owner_;
    Log log_;
    std::unique_ptr<Alarm> resolve_alarm_;
    ServerId server_;
    std::optional<IdSource> ids_;
    std::uint64_t number_ = 0;  // of the last group that is known to be committed
    std::uint64_t fence_ = 0;
    std::deque<std::unique_ptr<SentGroup>> under_way_;  // in the order of their numbers
    bool is_handling_failed_ = false;
    Gate carriers_;
};

}  // namespace perdure
