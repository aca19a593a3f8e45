#include "core/job/cancel.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace perdure::cancel_test {
namespace {

std::vector<CancelFacts> every_cancel() {
    std::vector<CancelFacts> all;
    for (const auto& row : places)
        for (const bool asks : {false, true}) all.push_back({row.state, asks});
    return all;
}

// E1, J3.
TEST(DecideCancel, changes_nothing_that_has_ended) {
    for (const auto& f : every_cancel()) {
        const auto kind = decide_cancel(f).kind;
        EXPECT_EQ(kind == CancelDecision::Kind::already_ended, has_ended(f.state));
    }
}

TEST(DecideCancel, never_ends_a_job_whose_process_may_run) {
    for (const auto& f : every_cancel()) {
        const bool may_run =
            f.state == JobState::running || (f.state == JobState::starting && !f.asks);
        const auto kind = decide_cancel(f).kind;
        EXPECT_EQ(kind == CancelDecision::Kind::order_kill, may_run) << to_string(f.state);
    }
}

TEST(DecideCancel, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& f : every_cancel()) rules.insert(decide_cancel(f).rule);
    EXPECT_EQ(rules, (std::set<std::string_view>{"E1/ended_before", "E1/report_decides",
                                                 "E1/not_started"}));
}

struct Act {
    QuarantineAction action;
    QuarantineFacts facts;
};

std::vector<Act> every_act() {
    const AttemptEnd good{.cause = Cause::exit, .ran = Ran::yes, .succeeded = true};
    const AttemptEnd bad{.cause = Cause::exit, .ran = Ran::yes, .exit_code = 3};
    std::vector<Act> all;
    for (const auto action :
         {QuarantineAction::release, QuarantineAction::accept, QuarantineAction::discard})
        for (const auto& row : places)
            for (const bool discarded : {false, true})
                for (const bool dead : {false, true})
                    for (const bool may_still_run : {false, true})
                        for (const auto& late :
                             {std::optional<AttemptEnd>{}, std::optional{good}, std::optional{bad}})
                            for (const bool told : {false, true})
                                all.push_back(
                                    {action,
                                     {row.state, discarded, dead, may_still_run, late, told}});
    return all;
}

using Kind = QuarantineDecision::Kind;

QuarantineDecision decide(const Act& act) { return decide_quarantine(act.action, act.facts); }

// J3.
TEST(DecideQuarantine, moves_nothing_but_quarantined_jobs) {
    for (const auto& act : every_act())
        if (act.facts.state != JobState::quarantined) {
            EXPECT_EQ(decide(act).kind, Kind::refuse);
        }
}

// [P4], E2: two runs of a `once` job at the same time need a person who says so.
TEST(DecideQuarantine, releases_beside_a_live_process_only_if_a_person_says_so) {
    for (const auto& act : every_act()) {
        if (act.facts.state != JobState::quarantined) continue;
        if (act.action != QuarantineAction::release) continue;
        const auto decision = decide(act);
        const bool allowed =
            (act.facts.process_known_dead || act.facts.may_still_run) && !act.facts.is_still_told;
        EXPECT_EQ(decision.kind, allowed ? Kind::new_generation : Kind::refuse);
        if (allowed) {
            EXPECT_EQ(decision.state, JobState::ready);
        }
        if (allowed) {
            EXPECT_EQ(decision.stop_old_process, !act.facts.process_known_dead);
        }
    }
}

TEST(DecideQuarantine, accepts_nothing_but_a_late_result_and_says_what_it_says) {
    for (const auto& act : every_act()) {
        if (act.facts.state != JobState::quarantined) continue;
        if (act.action != QuarantineAction::accept) continue;
        const auto decision = decide(act);
        const auto& late = act.facts.late_result;
        const bool allowed = late && !act.facts.is_still_told;
        EXPECT_EQ(decision.kind, allowed ? Kind::end_generation : Kind::refuse);
        if (!allowed) continue;
        EXPECT_EQ(decision.state, late->succeeded ? JobState::succeeded : JobState::failed);
        EXPECT_FALSE(decision.stop_old_process);
    }
}

TEST(DecideQuarantine, discards_once_and_leaves_the_state) {
    for (const auto& act : every_act()) {
        if (act.facts.state != JobState::quarantined) continue;
        if (act.action != QuarantineAction::discard) continue;
        const auto decision = decide(act);
        EXPECT_EQ(decision.kind, act.facts.discarded ? Kind::refuse : Kind::mark_discarded);
        if (decision.kind == Kind::mark_discarded) {
            EXPECT_EQ(decision.state, JobState::quarantined);
            EXPECT_EQ(decision.stop_old_process, !act.facts.process_known_dead);
        }
    }
}

TEST(DecideQuarantine, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& act : every_act()) rules.insert(decide(act).rule);
    EXPECT_EQ(rules,
              (std::set<std::string_view>{"E2/not_quarantined", "E2/may_still_run", "E2/released",
                                          "E2/no_late_result", "E2/accepted", "E2/discarded_before",
                                          "E2/discarded", "E2/still_told"}));
}

}  // namespace
}  // namespace perdure::cancel_test
