// What tests of the server's loops stand on: time that passes only when a test lets it, and a store
// in memory that records what it is sent and fails as it is told to.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "core/job/submit.h"
#include "ports/gate.h"
#include "ports/store.h"
#include "ports/testing/manual_clock.h"
#include "server/dispatcher.h"
#include "server/group_commit.h"

namespace perdure {

// `Memory` is MemoryStore: a header of this module cannot name an adapter.
template <class Memory>
class StagedStore final : public Memory {
public:
    using Memory::Memory;
    // Answers in the store's place; empty: the store answers itself.
    using Failure = std::function<std::optional<Error>(const Group&)>;

    Task<Result<GroupReply>> commit(Group group) override {
        sent.push_back(group);
        if (holds_groups) co_await held();
        auto failure = before ? before(group) : std::nullopt;
        if (failure) co_return *failure;
        auto reply = co_await Memory::commit(group);
        if (holds_replies) co_await held();
        failure = after ? after(group) : std::nullopt;
        if (failure) co_return *failure;
        co_return reply;
    }
    Task<Result<LastGroup>> resolve_unknown(ServerId server, std::uint64_t fence) override {
        ++resolves;
        if (resolve_failure) co_return *resolve_failure;
        co_return co_await Memory::resolve_unknown(server, fence);
    }
    Task<Result<ServerOpened>> open_server(ServerId server, WallTime wall) override {
        if (open_failure) co_return *open_failure;
        co_return co_await Memory::open_server(server, wall);
    }
    Task<Result<OverdueView>> overdue(WallTime wall, std::uint32_t limit) override {
        ++looks;
        if (overdue_instead) co_return overdue_instead();
        co_return co_await Memory::overdue(wall, limit);
    }

    // Lets what is held go on: the oldest, the newest, or all.
    void release_oldest(Executor executor) {
        auto next = std::move(held_.front());
        held_.pop_front();
        next.resume_later(executor);
    }
    void release_newest(Executor executor) {
        auto next = std::move(held_.back());
        held_.pop_back();
        next.resume_later(executor);
    }
    void release_all(Executor executor) {
        holds_groups = holds_replies = false;
        while (!held_.empty()) release_oldest(executor);
    }
    // What is held must be gone before what it refers to is.
    void let_go() { held_.clear(); }

    std::vector<Group> sent;
    bool holds_groups = false;   // before anything is done
    bool holds_replies = false;  // after it was committed
    Failure before;              // nothing is done
    Failure after;               // it is committed all the same
    std::optional<Error> open_failure;
    std::optional<Error> resolve_failure;
    std::function<Result<OverdueView>()> overdue_instead;
    int resolves = 0;
    int looks = 0;

private:
    Task<void> held() {
        return suspend([this](Suspended me) { held_.push_back(std::move(me)); });
    }

    std::deque<Suspended> held_;
};

class LogLines final : public LogSink {
public:
    bool wants(Level) const override { return true; }
    void write(Level level, std::string_view, std::string_view event,
               const std::vector<Field>& fields) override {
        std::string line = std::string(to_string(level)) + ": " + std::string(event);
        for (const auto& field : fields) line += " " + field.value;
        lines.push_back(std::move(line));
    }
    bool has(std::string_view part) const {
        return std::any_of(lines.begin(), lines.end(), [part](const std::string& line) {
            return line.find(part) != std::string::npos;
        });
    }

    std::vector<std::string> lines;
};

// The server's end of a stream, as a test sees it.
class SeenOutbox final : public Outbox {
public:
    void send(StreamMessage message) override { messages.push_back(std::move(message)); }
    void close() override { ++closes; }
    std::vector<JobId> jobs() const {
        std::vector<JobId> ids;
        for (const auto& message : messages)
            if (const auto* given = std::get_if<Assignment>(&message))
                ids.push_back(given->attempt.job);
        return ids;
    }

    std::vector<StreamMessage> messages;
    int closes = 0;
};

// One server's commits. Unless it is told otherwise, service time passes only by the ticks that a
// test commits.
template <class Memory>
class ServerStage : public testing::Test {
protected:
    using LeadingTicks = GroupCommit::LeadingTicks;
    explicit ServerStage(LeadingTicks ticks = LeadingTicks::never) : leading_ticks(ticks) {}
    ~ServerStage() override { store.let_go(); }

    void open() {
        gate.spawn("open", open_and_run());
        clock.run_ready();
    }
    // Runs it until it waits for time, or for what the store holds.
    template <class T>
    std::optional<T> begun(Task<T> task) {
        auto result = std::make_shared<std::optional<T>>();
        gate.spawn("of a test", keep(std::move(task), result));
        clock.run_ready();
        return std::move(*result);
    }
    template <class T>
    T done(Task<T> task) {
        auto result = begun(std::move(task));
        PERDURE_ASSERT(result.has_value());
        return std::move(*result);
    }
    ChangeReply commit(Lane lane, Change change) {
        return done(commits.commit(lane, std::move(change)));
    }
    // It must be possible.
    void apply(Lane lane, Change change) {
        const auto reply = commit(lane, std::move(change));
        EXPECT_TRUE(reply) << reply.error().what;
    }

    void open_session(SessionId session, std::uint32_t slots = 8) {
        OpenSession opening{.session = session,
                            .directory = {"m", "b", session.value, session.value},
                            .life = 1,
                            .worker = "w" + std::to_string(session.value),
                            .slots = slots,
                            .lease = timing.lease};
        apply(Lane::reports, std::move(opening));
        apply(Lane::reports, OpenStream{session});
    }
    static Submit submit_of(JobId job, JobSpec spec = {.kind = "k"}) {
        const auto hash = body_hash(spec);
        return {job, std::make_shared<const JobSpec>(std::move(spec)), hash};
    }
    void submit(JobId job, JobSpec spec = {.kind = "k"}) {
        apply(Lane::submits, submit_of(job, std::move(spec)));
    }
    // Numbered from `first` on.
    void submit_many(std::uint64_t first, std::uint64_t count, const JobSpec& spec) {
        SubmitAll all;
        for (auto id = first; id < first + count; ++id)
            all.jobs.push_back(submit_of(JobId{id}, spec));
        apply(Lane::submits, std::move(all));
    }
    // Service time is later by so much.
    void tick(Duration later) {
        const auto seen = commits.seen().clock;
        apply(Lane::tick, Tick{seen.tick, {seen.tick + 1, seen.now + later, seen.grace_until}});
    }
    std::optional<JobState> state_of(JobId job) {
        const auto views = done(store.jobs({job}));
        if (!views || views->empty()) return std::nullopt;
        return views->front().state;
    }
    template <class Kind>
    std::vector<std::vector<Kind>> sent_groups_of() const {
        std::vector<std::vector<Kind>> groups;
        for (const auto& group : store.sent) {
            std::vector<Kind> of_kind;
            for (const auto& change : group.changes)
                if (const auto* one = std::get_if<Kind>(&change)) of_kind.push_back(*one);
            if (!of_kind.empty()) groups.push_back(std::move(of_kind));
        }
        return groups;
    }

    const LeadingTicks leading_ticks;
    Timing timing;
    ManualClock clock;
    StagedStore<Memory> store{timing};
    LogLines log;
    std::vector<std::string> fatal;
    GroupCommit commits{store,
                        clock,
                        {.timing = timing, .leading_ticks = leading_ticks},
                        [this](std::string why) { fatal.push_back(std::move(why)); },
                        Log(log, "commits")};
    Stop stop;
    Gate gate{clock.executor()};

private:
    template <class T>
    static Task<void> keep(Task<T> task, std::shared_ptr<std::optional<T>> result) {
        *result = co_await std::move(task);
    }
    Task<void> open_and_run() {
        const ServerId me{1};
        co_await commits.open(me, stop);
        gate.spawn("commits", commits.run(stop));
        gate.spawn("deadlines", commits.watch_deadlines(stop));
    }
};

}  // namespace perdure
