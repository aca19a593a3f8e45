#include "core/ownership/report.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace perdure::report_test {
namespace {

std::vector<ReportFacts> every_report() {
    std::vector<ReportFacts> all;
    for (unsigned bits = 0; bits < 256; ++bits)
        all.push_back({(bits & 1U) != 0, (bits & 2U) != 0, (bits & 4U) != 0, (bits & 8U) != 0,
                       (bits & 16U) != 0, (bits & 32U) != 0, (bits & 64U) != 0,
                       (bits & 128U) != 0});
    return all;
}

// "It did not run", said by a session from which the attempt was taken over.
bool outdated(const ReportFacts& f) {
    return f.in_run && f.did_not_run && !f.session_is_owner && !f.already_reported;
}

bool known(const ReportFacts& f) { return f.attempt_exists && f.session_owned_it && !outdated(f); }

// The first session says "did not run" and dies; the second takes the attempt over and starts it;
// now the first one's message arrives. Believed, it would have the job run twice.
TEST(DecideReport, does_not_believe_an_earlier_session_that_it_did_not_run) {
    for (const auto& f : every_report())
        if (outdated(f)) {
            EXPECT_EQ(decide_report(f).answer, ReportAnswer::fenced);
        }
}

// [P2], O1.
TEST(DecideReport, fences_who_never_owned_the_attempt) {
    for (const auto& f : every_report())
        EXPECT_EQ(decide_report(f).answer == ReportAnswer::fenced, !known(f));
}

TEST(DecideReport, gives_a_repeated_report_the_first_answer_again) {
    for (const auto& f : every_report())
        if (known(f)) {
            EXPECT_EQ(decide_report(f).answer == ReportAnswer::repeated, f.already_reported);
        }
}

TEST(DecideReport, changes_a_job_only_for_its_running_or_presumed_lost_attempt) {
    for (const auto& f : every_report()) {
        const auto answer = decide_report(f).answer;
        const bool changes = answer == ReportAnswer::accept || answer == ReportAnswer::correct;
        if (changes) {
            EXPECT_TRUE(f.in_run || (f.presumed_lost && !f.job_ended));
        }
        if (changes) {
            EXPECT_FALSE(f.already_reported);
        }
    }
}

// A worker cut off for three minutes returns with the result of six hours.
TEST(DecideReport, a_presumed_lost_attempt_may_still_report_until_its_job_has_ended) {
    for (const auto& f : every_report()) {
        if (!known(f) || f.already_reported || f.in_run) continue;
        const bool comes_back = f.presumed_lost && !f.job_ended;
        EXPECT_EQ(decide_report(f).answer,
                  comes_back ? ReportAnswer::correct : ReportAnswer::file_late);
    }
}

TEST(DecideReport, drops_no_result_of_an_attempt_that_existed) {
    for (const auto& f : every_report())
        if (known(f)) {
            EXPECT_NE(decide_report(f).answer, ReportAnswer::fenced);
        }
}

TEST(DecideReport, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& f : every_report()) rules.insert(decide_report(f).rule);
    EXPECT_EQ(rules, (std::set<std::string_view>{
                         "O1/no_such_attempt", "O1/not_your_attempt", "O1/repeated_report",
                         "O1/did_not_run_said_too_late", "O1/the_running_attempt",
                         "O1/presumed_lost_reports", "O1/late_result"}));
}

std::vector<ProgressFacts> every_progress() {
    std::vector<ProgressFacts> all;
    for (const bool in_run : {false, true})
        for (const bool owner : {false, true})
            for (const auto state : {JobState::starting, JobState::running})
                for (const bool asks : {false, true})
                    for (const std::uint64_t number : {1, 2, 3})
                        all.push_back({in_run, owner, state, asks, number, 2});
    return all;
}

// [P2]: no child job of any attempt but the one that runs now.
TEST(DecideInside, counts_for_the_running_attempt_of_the_current_session_only) {
    for (const bool in_run : {false, true})
        for (const bool is_owner : {false, true})
            for (const auto state : {JobState::starting, JobState::running})
                for (const bool asks : {false, true}) {
                    const auto decision = decide_inside({in_run, is_owner, state, asks});
                    const bool runs = state == JobState::running || !asks;
                    EXPECT_EQ(decision.counts, in_run && is_owner && runs);
                    EXPECT_FALSE(decision.rule.empty());
                }
}

// O10, [P2].
TEST(DecideProgress, counts_for_the_running_attempt_of_the_current_session_only) {
    for (const auto& f : every_progress())
        if (decide_progress(f)) {
            EXPECT_TRUE(f.in_run && f.session_is_owner);
        }
}

// A job may save a checkpoint before the confirmation of its start has come.
TEST(DecideProgress, does_not_wait_for_the_confirmation_of_a_start_that_needed_no_permission) {
    for (const auto& f : every_progress()) {
        if (!f.in_run || !f.session_is_owner) continue;
        const bool cannot_run = f.state == JobState::starting && f.asks;
        const bool overtaken = f.number < f.last_number;
        EXPECT_EQ(decide_progress(f).counts, !cannot_run && !overtaken);
    }
}

// A checkpoint is sent, its answer is lost, it is sent again and committed; `begin` is committed
// and the card is charged; now the first copy of the checkpoint arrives. The attempt stays dirty.
TEST(DecideProgress, never_lets_an_older_statement_change_what_a_newer_one_said) {
    for (const auto& f : every_progress()) {
        const auto decision = decide_progress(f);
        const bool changes = decision.counts && !decision.repeated;
        EXPECT_FALSE(changes && f.number <= f.last_number);
    }
}

TEST(DecideProgress, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& f : every_progress()) rules.insert(decide_progress(f).rule);
    EXPECT_EQ(rules, (std::set<std::string_view>{"O1/not_the_running_attempt", "O4/not_started",
                                                 "O10/overtaken", "O10/repeated", "O10/counts"}));
}

}  // namespace
}  // namespace perdure::report_test
