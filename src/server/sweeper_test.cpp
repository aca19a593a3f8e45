// A sweep by hand tells what a sweep does: the same decisions, judged by the job's own rules [P10].
#include "server/sweeper.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>

#include "base/assert.h"
#include "core/submit.h"
#include "ports/gate.h"
#include "runtime/asio_clock.h"
#include "store/memory/memory_store.h"

namespace perdure {
namespace {

class SweepByHandTest : public testing::Test {
protected:
    SweepByHandTest() {
        EXPECT_TRUE(run(store_.open_server(ServerId{1}, WallTime{})));
        commit({OpenSession{.session = session_,
                            .directory = {"m", "b", 1, 1},
                            .life = 1,
                            .worker = "w",
                            .slots = 8,
                            .lease = timing_.lease}});
        commit({OpenStream{session_}});
    }

    // A running attempt of such a job, whose worker falls silent for as long.
    void lose(JobSpec spec, Duration silence) {
        const auto hash = body_hash(spec);
        commit({Submit{job_, std::make_shared<const JobSpec>(std::move(spec)), hash}});
        commit({Claim{session_, 1, 1}, Start{session_, {job_, Epoch{1}}}});
        commit({Tick{0, {1, ServiceTime{silence.us}, ServiceTime{}}}});
    }

    SweepReport sweep(SweepByHand how) {
        gate_.spawn("test", play(how));
        context_.restart();
        context_.run();
        EXPECT_TRUE(report_);
        return report_ ? *report_ : SweepReport{};
    }

    template <class T>
    T run(Task<T> task) {
        std::optional<T> result;
        boost::asio::co_spawn(context_, keep(std::move(task), result),
                              [](std::exception_ptr why) { PERDURE_ASSERT(why == nullptr); });
        context_.restart();
        context_.run();
        return std::move(*result);
    }

    const JobId job_{100};
    MemoryStore store_{Timing{}};

private:
    template <class T>
    static Task<void> keep(Task<T> task, std::optional<T>& result) {
        result = co_await std::move(task);
    }
    Task<void> play(SweepByHand how) {
        const ServerId me{2};
        co_await commits_.open(me, stop_);
        gate_.spawn("group commit", commits_.run(stop_));
        report_ = co_await sweeper_.sweep_by_hand(how);
        context_.stop();
    }
    void commit(std::vector<Change> changes) {
        const Group group{.server = ServerId{1}, .number = ++groups_, .changes = changes};
        const auto reply = run(store_.commit(group));
        ASSERT_TRUE(reply);
        for (const auto& one : reply->replies) EXPECT_TRUE(one) << one.error().what;
    }

    const SessionId session_{9};
    Timing timing_;
    std::uint64_t groups_ = 0;
    boost::asio::io_context context_{1};
    AsioClock clock_{context_};
    // No time passes but what a test lets pass.
    GroupCommit commits_{
        store_, clock_, {.leading_ticks = GroupCommit::LeadingTicks::never}, {}, Log{}};
    Sweeper sweeper_{store_, clock_, commits_, Log{}};
    Result<SweepReport> report_ = error(Errc::unavailable, "it has not been made");
    Stop stop_;
    Gate gate_{clock_.executor()};
};

JobSpec quarantined_when_lost() {
    JobSpec spec{.kind = "k"};
    CustomRule rule;
    rule.causes = {Cause::worker_lost};
    rule.then = Then::quarantine;
    spec.policy.rules = {rule};
    return spec;
}

TEST_F(SweepByHandTest, the_report_is_judged_by_the_rules_of_the_jobs_author) {
    lose(quarantined_when_lost(), minutes(10));
    const auto report = sweep(SweepByHand::report_only);
    ASSERT_EQ(report.findings.size(), 1U);
    EXPECT_EQ(report.findings.front().rule, "custom/1");
    EXPECT_NE(report.findings.front().does.find("quarantine"), std::string::npos)
        << report.findings.front().does;
}

// O7: it is shown as owner lost for as long as it is held, and it is not well.
TEST_F(SweepByHandTest, a_once_job_of_a_lost_worker_is_left_alone_and_said_so) {
    JobSpec spec{.kind = "k", .effects = Effects::once};
    lose(std::move(spec), minutes(1));
    const auto report = sweep(SweepByHand::report_only);
    ASSERT_EQ(report.findings.size(), 1U);
    const auto& finding = report.findings.front();
    EXPECT_FALSE(finding.acts);
    EXPECT_EQ(finding.attempt, (AttemptKey{job_, Epoch{1}}));
    EXPECT_EQ(finding.rule, "O7/owner_lost_within_hold");
}

TEST_F(SweepByHandTest, what_is_heard_is_not_found) {
    lose(JobSpec{.kind = "k", .effects = Effects::once}, seconds(1));
    EXPECT_TRUE(sweep(SweepByHand::report_only).findings.empty());
}

}  // namespace
}  // namespace perdure
