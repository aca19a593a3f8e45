// Each kind of damage is found, and a sound job is not called damaged.
#include "api/audit.h"

#include <gtest/gtest.h>

#include <memory>

namespace perdure {
namespace {

const Permit key{Permit::Kind::key, "default", "k"};

JobView ready_job(bool keyed = false) {
    JobSpec spec{.kind = "k"};
    if (keyed) spec.key = "k";
    JobView job{.id = JobId{5}, .spec = std::make_shared<const JobSpec>(spec)};
    job.queue_deadline = ServiceTime{seconds(100).us};
    return job;
}

JobView running_job(bool keyed = false) {
    auto job = ready_job(keyed);
    job.queue_deadline.reset();
    job.state = JobState::running;
    job.epoch = Epoch{1};
    job.attempts.push_back({.epoch = Epoch{1}, .session = SessionId{9}});
    job.run = RunView{.attempt = {job.id, Epoch{1}}, .session = SessionId{9}};
    return job;
}

JobView ended_job() {
    auto job = ready_job();
    job.queue_deadline.reset();
    job.state = JobState::cancelled;
    job.ended_on = WallTime{1};
    return job;
}

std::vector<AuditProblem> problems_of(JobView job, std::vector<HolderView> holders = {}) {
    AuditView view;
    view.jobs.push_back(std::move(job));
    view.holders = std::move(holders);
    view.clock.now = ServiceTime{seconds(50).us};
    Audit audit;
    audit.add(view);
    EXPECT_EQ(audit.jobs(), 1U);
    return audit.problems();
}

TEST(Audit, finds_nothing_where_all_is_well) {
    EXPECT_TRUE(problems_of(ready_job()).empty());
    EXPECT_TRUE(problems_of(running_job()).empty());
    EXPECT_TRUE(problems_of(ended_job()).empty());
    EXPECT_TRUE(problems_of(running_job(true), {{key, 1, JobId{5}}}).empty());
    auto blocked = ready_job(true);
    blocked.state = JobState::blocked;
    blocked.blocked_on = key;
    const auto problems = problems_of(blocked, {{key, 1, JobId{6}}});
    ASSERT_EQ(problems.size(), 1U) << "only the holder that is not there";
    EXPECT_EQ(problems.front().job, JobId{6});
}

TEST(Audit, finds_what_runs_in_no_session) {
    const auto problems_with = [](bool open) {
        AuditView view;
        view.jobs.push_back(running_job());
        Audit audit;
        audit.add(view);
        EXPECT_EQ(audit.sessions(), std::vector{SessionId{9}});
        OwnerView session{.session = SessionId{9}, .open = open};
        session.clock.now = ServiceTime{seconds(50).us};
        audit.add(session);
        EXPECT_TRUE(audit.sessions().empty());
        return audit.problems();
    };
    EXPECT_TRUE(problems_with(true).empty());
    EXPECT_EQ(problems_with(false).size(), 1U);

    AuditView view;
    view.jobs.push_back(running_job());
    Audit audit;
    audit.add(view);
    audit.miss(SessionId{9});
    ASSERT_EQ(audit.problems().size(), 1U);
    EXPECT_EQ(audit.problems().front().job, JobId{5});
}

// A session that was ended, as that of a cloned machine is (O5), keeps its attempts until its lease
// is over; those of a `once` job for as long as the job is held for it (O7).
TEST(Audit, what_runs_in_an_ended_session_is_sound_until_its_lease_is_over) {
    const auto problems_at = [](Duration after_the_lease, Duration release_after) {
        auto job = running_job();
        job.run->terms.release_after = release_after;
        AuditView view;
        view.jobs.push_back(job);
        Audit audit;
        audit.add(view);
        OwnerView session{.session = SessionId{9}, .open = false};
        session.lease_deadline = ServiceTime{seconds(100).us};
        session.clock.now = session.lease_deadline + after_the_lease;
        audit.add(session);
        return audit.problems().size();
    };
    EXPECT_EQ(problems_at(seconds(-3), Duration{}), 0U);
    EXPECT_EQ(problems_at(seconds(4), Duration{}), 0U) << "the next sweep ends it";
    EXPECT_EQ(problems_at(seconds(6), Duration{}), 1U);
    EXPECT_EQ(problems_at(seconds(6), minutes(5)), 0U);
    EXPECT_EQ(problems_at(minutes(5) + seconds(6), minutes(5)), 1U);
}

TEST(Audit, what_is_free_may_be_waited_for_while_another_one_is_offered_it) {
    auto offered = ready_job(true);
    auto blocked = ready_job(true);
    blocked.id = JobId{4};
    blocked.state = JobState::blocked;
    blocked.blocked_on = key;
    AuditView view{.jobs = {blocked, offered}};
    Audit audit;
    audit.add(view);
    EXPECT_TRUE(audit.problems().empty()) << "no worker has claimed the first of them yet";
}

TEST(Audit, finds_a_place_without_what_keeps_it) {
    auto job = ready_job();
    job.queue_deadline.reset();
    EXPECT_FALSE(problems_of(job).empty());
    job = running_job();
    job.queue_deadline = ServiceTime{1};
    EXPECT_FALSE(problems_of(job).empty());
    job = running_job();
    job.run.reset();
    EXPECT_FALSE(problems_of(job).empty());
    job = ready_job();
    job.state = JobState::scheduled;
    job.queue_deadline.reset();
    EXPECT_FALSE(problems_of(job).empty());
    job = ready_job();
    job.blocked_on = key;
    EXPECT_FALSE(problems_of(job).empty());
    job = ended_job();
    job.ended_on.reset();
    EXPECT_FALSE(problems_of(job).empty());
}

TEST(Audit, finds_attempts_that_do_not_add_up) {
    auto job = running_job();
    job.attempts.front().epoch = Epoch{2};
    EXPECT_FALSE(problems_of(job).empty());
    job = running_job();
    job.attempts.front().end = AttemptEnd{};
    EXPECT_FALSE(problems_of(job).empty());
    job = running_job();
    job.attempts.front().session = SessionId{8};
    EXPECT_FALSE(problems_of(job).empty());
    job = ready_job();
    job.epoch = Epoch{1};
    EXPECT_FALSE(problems_of(job).empty());
}

TEST(Audit, finds_holders_that_should_not_hold_and_others_that_should) {
    EXPECT_FALSE(problems_of(running_job(true)).empty());
    EXPECT_FALSE(problems_of(ready_job(true), {{key, 1, JobId{5}}}).empty());
    EXPECT_FALSE(problems_of(running_job(true), {{key, 1, JobId{5}}, {key, 2, JobId{5}}}).empty());
    auto blocked = ready_job(true);
    blocked.state = JobState::blocked;
    blocked.blocked_on = key;
    EXPECT_FALSE(problems_of(blocked).empty()) << "what it waits for is free";
}

TEST(Audit, finds_what_is_overdue_by_five_seconds) {
    auto job = ready_job();
    job.queue_deadline = ServiceTime{seconds(46).us};
    EXPECT_TRUE(problems_of(job).empty());
    job.queue_deadline = ServiceTime{seconds(44).us};
    EXPECT_FALSE(problems_of(job).empty());
    job = running_job();
    job.total_deadline = ServiceTime{seconds(44).us};
    EXPECT_FALSE(problems_of(job).empty());
    job.run->kill_cause = Cause::timeout_total;
    EXPECT_TRUE(problems_of(job).empty()) << "its kill is ordered";
}

TEST(Audit, believes_only_what_it_sees_twice) {
    const AuditProblem once{JobId{1}, "a"};
    const AuditProblem twice{JobId{2}, "b"};
    EXPECT_EQ(seen_twice({once, twice}, {twice}), std::vector{twice});
}

}  // namespace
}  // namespace perdure
