#include "processes/in_process_kinds.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <deque>
#include <string>
#include <vector>

namespace perdure {
namespace {

// Time stands still; an alarm returns when it is rung, or when the test says that its time is up.
class StillClock final : public Clock {
public:
    explicit StillClock(boost::asio::io_context& context) : context_(context) {}
    struct StillAlarm final : Alarm {
        explicit StillAlarm(Executor on) : executor(on) {}
        Task<void> wait(Duration longest) override {
            waits_for = longest;
            return suspend([this](Suspended me) { waiter.emplace(std::move(me)); });
        }
        void ring() override {
            if (waiter) std::exchange(waiter, std::nullopt)->resume_later(executor);
        }
        Executor executor;
        Duration waits_for;
        std::optional<Suspended> waiter;
    };
    WallTime wall() const override { return {}; }
    BootTime boot() const override { return {seconds(1'000).us}; }
    Executor executor() override { return context_.get_executor(); }
    std::unique_ptr<Alarm> make_alarm() override {
        auto alarm = std::make_unique<StillAlarm>(context_.get_executor());
        last = alarm.get();
        return alarm;
    }
    StillAlarm* last = nullptr;

private:
    boost::asio::io_context& context_;
};

// Writes down what comes through.
class Below final : public Processes {
public:
    explicit Below(Executor executor) : events(std::make_shared<EventQueue>(executor)) {}
    ~Below() override { events->close(); }
    Task<Result<WorkerLife>> open() override { co_return WorkerLife{.life = 7}; }
    Task<Result<std::uint64_t>> next_life() override { co_return 8; }
    Task<Result<void>> prepare(Assignment) override {
        calls.push_back("prepare");
        co_return Result<void>{};
    }
    void start(AttemptKey, StartOrder) override { calls.push_back("start"); }
    void renew(AttemptKey, BootTime) override { calls.push_back("renew"); }
    void kill(AttemptKey, Cause) override { calls.push_back("kill"); }
    Task<std::vector<ProcessEvent>> next_events() override { return EventQueue::next(events); }
    void deliver(AttemptKey, ProcessAnswer) override { calls.push_back("answer"); }
    Task<Result<std::string>> output(AttemptKey, std::uint64_t, std::size_t) override {
        co_return std::string("printed");
    }
    void forget(AttemptKey) override { calls.push_back("forget"); }
    void stopped_cleanly() override { calls.push_back("stopped_cleanly"); }

    std::vector<std::string> calls;
    std::shared_ptr<EventQueue> events;
};

class InProcessKindsTest : public testing::Test {
protected:
    InProcessKindsTest() {
        EXPECT_EQ(run(kinds_.open())->life, 7U);
        boost::asio::co_spawn(context_, follow(), boost::asio::detached);
        run_ready();
    }
    Task<void> follow() {
        while (true) {
            auto events = co_await kinds_.next_events();
            for (auto& event : events) events_.push_back(std::move(event));
        }
    }
    template <class T>
    static Task<void> keep(Task<T> task, std::optional<T>* value) {
        value->emplace(co_await std::move(task));
    }
    template <class T>
    T run(Task<T> task) {
        std::optional<T> value;
        boost::asio::co_spawn(context_, keep(std::move(task), &value), boost::asio::detached);
        run_ready();
        return std::move(*value);
    }
    void run_ready() {
        context_.restart();
        context_.poll();
    }
    Assignment make(std::string kind, std::string args, Duration run_timeout = hours(1)) {
        JobSpec spec;
        spec.kind = std::move(kind);
        spec.args = std::move(args);
        spec.timeouts.run = run_timeout;
        Assignment given{.attempt = {JobId{++last_}, {1}}};
        given.terms.hold = minutes(5);
        given.spec = std::make_shared<JobSpec>(std::move(spec));
        return given;
    }
    AttemptKey prepare(std::string kind, std::string args, Duration run_timeout = hours(1)) {
        auto given = make(std::move(kind), std::move(args), run_timeout);
        const auto key = given.attempt;
        prepared_ = run(kinds_.prepare(std::move(given)));
        return key;
    }
    void start(AttemptKey key, Duration lease = seconds(10)) {
        kinds_.start(key, {.go_until = std::nullopt, .lease_until = clock_.boot() + lease});
        run_ready();
    }

    boost::asio::io_context context_;
    StillClock clock_{context_};
    Below below_{context_.get_executor()};
    InProcessKinds kinds_{below_, clock_, Timing{}};
    std::vector<ProcessEvent> events_;
    Result<void> prepared_;
    std::uint64_t last_ = 0;
};

TEST_F(InProcessKindsTest, a_noop_ends_at_once) {
    const auto key = prepare("perdure.noop", "");
    EXPECT_TRUE(events_.empty());
    start(key);
    ASSERT_EQ(events_.size(), 1U);
    EXPECT_EQ(events_[0].attempt, key);
    EXPECT_TRUE(events_[0].end.succeeded);
    start(key);
    EXPECT_EQ(events_.size(), 1U);  // once
    kinds_.forget(key);
    EXPECT_TRUE(below_.calls.empty());
}

TEST_F(InProcessKindsTest, what_runs_here_is_prepared_without_a_wait) {
    const auto given = make("perdure.noop", "");
    const auto prepared = kinds_.prepare_at_once(given);
    ASSERT_TRUE(prepared);
    EXPECT_TRUE(prepared->has_value());
    start(given.attempt);
    ASSERT_EQ(events_.size(), 1U);
    EXPECT_EQ(events_[0].attempt, given.attempt);
    EXPECT_TRUE(events_[0].end.succeeded);

    const auto refused = kinds_.prepare_at_once(make("perdure.sleep", "{}"));
    ASSERT_TRUE(refused);
    EXPECT_TRUE(refused->is(Errc::invalid));
    EXPECT_FALSE(kinds_.prepare_at_once(make("", "")));  // needs a process
    EXPECT_TRUE(below_.calls.empty());
}

TEST_F(InProcessKindsTest, a_sleep_ends_when_its_time_is_up) {
    const auto key = prepare("perdure.sleep", R"({"ms": 1500})");
    start(key);
    ASSERT_EQ(events_.size(), 1U);
    EXPECT_EQ(events_[0].kind, ProcessEvent::Kind::started);
    EXPECT_EQ(clock_.last->waits_for, milliseconds(1'500));
    clock_.last->ring();
    run_ready();
    ASSERT_EQ(events_.size(), 2U);
    EXPECT_TRUE(events_[1].end.succeeded);
}

TEST_F(InProcessKindsTest, the_run_timeout_holds_here_too) {
    const auto key = prepare("perdure.sleep", R"({"ms": 1500})", seconds(1));
    start(key);
    EXPECT_EQ(clock_.last->waits_for, seconds(1));
    clock_.last->ring();
    run_ready();
    EXPECT_EQ(events_.back().end.cause, Cause::timeout_run);
    EXPECT_FALSE(events_.back().end.succeeded);
}

TEST_F(InProcessKindsTest, a_kill_ends_it_with_its_cause) {
    const auto sleeping = prepare("perdure.sleep", R"({"ms": 1500})");
    start(sleeping);
    kinds_.kill(sleeping, Cause::cancelled);
    run_ready();
    EXPECT_EQ(events_.back().end.cause, Cause::cancelled);
    EXPECT_EQ(events_.back().end.ran, Ran::yes);
    const auto waiting = prepare("perdure.noop", "");
    kinds_.kill(waiting, Cause::evicted);
    run_ready();
    EXPECT_EQ(events_.back().end.ran, Ran::no);
    start(waiting);
    EXPECT_EQ(events_.size(), 3U);
}

TEST_F(InProcessKindsTest, nothing_starts_after_its_lease) {
    const auto key = prepare("perdure.noop", "");
    start(key, seconds(-1));
    ASSERT_EQ(events_.size(), 1U);
    EXPECT_EQ(events_[0].end.cause, Cause::cut_off);
    EXPECT_EQ(events_[0].end.ran, Ran::no);
}

TEST_F(InProcessKindsTest, args_that_make_no_sense_are_refused) {
    for (const std::string args : {"", "{}", "[]", R"({"ms": -1})", R"({"ms": "1"})", "{"}) {
        prepare("perdure.sleep", args);
        EXPECT_TRUE(prepared_.is(Errc::invalid)) << args;
    }
}

TEST_F(InProcessKindsTest, everything_else_goes_below) {
    const auto key = prepare("other", "");
    start(key);
    kinds_.renew(key, {});
    kinds_.kill(key, Cause::cancelled);
    kinds_.answer(key, ProcessEvent::Kind::begin, true);
    EXPECT_EQ(*run(kinds_.output(key, 0, 9)), "printed");
    kinds_.forget(key);
    const std::vector<std::string> expected = {"prepare", "start",  "renew",
                                               "kill",    "answer", "forget"};
    EXPECT_EQ(below_.calls, expected);
    below_.events->push({.kind = ProcessEvent::Kind::printed, .attempt = key});
    run_ready();
    ASSERT_EQ(events_.size(), 1U);
    EXPECT_EQ(events_[0].kind, ProcessEvent::Kind::printed);
}

}  // namespace
}  // namespace perdure
