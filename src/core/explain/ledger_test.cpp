// What is worth an entry, over all combinations of facts, and how entries are told.
#include "core/explain/ledger.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace perdure::ledger_test {
namespace {

std::vector<Next> every_next() {
    std::vector<Next> all;
    for (const auto kind : {Next::Kind::again_now, Next::Kind::again_after, Next::Kind::again_on})
        all.push_back({.kind = kind, .wait = seconds(5), .rule = "next"});
    for (const auto& place : places)
        if (has_ended(place.state)) all.push_back({.state = place.state, .rule = "next"});
    return all;
}

template <class Check>
void for_every_end(Check check) {
    for (std::size_t d = 0; d < detector_names.size(); ++d)
        for (std::size_t c = 0; c < cause_count; ++c)
            for (const auto ran : {Ran::no, Ran::maybe, Ran::yes})
                for (const bool succeeded : {false, true})
                    for (const bool announced : {false, true})
                        for (const bool presumed : {false, true})
                            for (const auto& next : every_next())
                                check(RepairFacts{.seen = {static_cast<Detector>(d), "seen",
                                                           seconds(1), announced},
                                                  .end = AttemptEnd{.cause = static_cast<Cause>(c),
                                                                    .ran = ran,
                                                                    .succeeded = succeeded},
                                                  .next = next,
                                                  .presumed_before = presumed});
}

bool ended_as(const RepairFacts& f, JobState state) {
    return f.next.kind == Next::Kind::ended && f.next.state == state;
}

TEST(DecideRepair, leaves_out_the_jobs_own_doing_and_a_persons_act_and_nothing_else) {
    for_every_end([](const RepairFacts& f) {
        const bool own =
            f.end->succeeded || (is_own_exit(f.end->cause) && ended_as(f, JobState::failed));
        const bool person = ended_as(f, JobState::cancelled);
        const bool told = decide_repair(f).has_value();
        EXPECT_EQ(told, !person && (!own || f.presumed_before));
    });
}

TEST(DecideRepair, says_what_was_decided_and_by_which_rule) {
    for_every_end([](const RepairFacts& f) {
        const auto decision = decide_repair(f);
        if (!decision) return;
        if (decision->repair == Repair::reinstated) {
            EXPECT_TRUE(f.presumed_before);
            EXPECT_EQ(decision->rule, "seen");
            return;
        }
        EXPECT_EQ(decision->rule, "next");
        EXPECT_EQ(runs_again(decision->repair), f.next.kind != Next::Kind::ended);
        EXPECT_EQ(decision->repair == Repair::quarantined, ended_as(f, JobState::quarantined));
    });
}

TEST(DecideRepair, a_stop_a_restart_and_a_loss_are_three_different_incidents) {
    const AttemptEnd evicted{.cause = Cause::evicted, .ran = Ran::yes};
    const AttemptEnd lost{.cause = Cause::worker_lost, .ran = Ran::yes};
    const Next again{.kind = Next::Kind::again_now};
    const auto stopped = decide_repair({.seen = {Detector::report}, .end = evicted, .next = again});
    const auto detached =
        decide_repair({.seen = {.detector = Detector::takeover, .announced = true}});
    const auto restarted = decide_repair({.seen = {Detector::takeover}});
    const auto gone = decide_repair({.seen = {Detector::lease}, .end = lost, .next = again});
    EXPECT_EQ(stopped->incident, Incident::worker_stopped);
    EXPECT_EQ(detached->incident, Incident::worker_stopped);
    EXPECT_EQ(detached->repair, Repair::adopted);
    EXPECT_EQ(restarted->incident, Incident::worker_restarted);
    EXPECT_EQ(restarted->repair, Repair::adopted);
    EXPECT_EQ(gone->incident, Incident::worker_lost);
    EXPECT_EQ(gone->repair, Repair::run_again_now);
}

TEST(DecideRepair, everything_that_is_brought_back_is_told) {
    for (std::size_t d = 0; d < detector_names.size(); ++d) {
        const auto decision = decide_repair({.seen = {static_cast<Detector>(d), "seen"}});
        ASSERT_TRUE(decision.has_value());
        EXPECT_FALSE(runs_again(decision->repair));
        EXPECT_EQ(decision->rule, "seen");
    }
}

TEST(Tell, makes_a_sentence_of_every_entry) {
    for_every_end([](const RepairFacts& f) {
        const auto decision = decide_repair(f);
        if (!decision) return;
        auto entry = recovery_of({JobId{1}, Epoch{3}}, Effects::once, f, *decision);
        entry.worker = "w1";
        const auto text = story_of(entry);
        EXPECT_NE(text.find("; "), std::string::npos) << text;
        EXPECT_NE(text.find_first_not_of(' ', text.find("; ") + 2), std::string::npos) << text;
    });
}

TEST(Tell, reads_like_a_sentence) {
    Recovery entry{.attempt = {JobId{1}, Epoch{1}},
                   .detector = Detector::takeover,
                   .incident = Incident::worker_restarted,
                   .repair = Repair::adopted,
                   .time_to_detect = milliseconds(30),
                   .worker = "w1"};
    EXPECT_EQ(story_of(entry),
              "worker w1 died and came back after 0.03 s; attempt 1 adopted, not rerun");
    entry = {.attempt = {JobId{1}, Epoch{2}},
             .detector = Detector::lease,
             .incident = Incident::worker_lost,
             .repair = Repair::run_again_now,
             .end = AttemptEnd{.cause = Cause::worker_lost, .ran = Ran::yes},
             .time_to_detect = milliseconds(10'400),
             .worker = "w1"};
    EXPECT_EQ(
        story_of(entry),
        "nothing was heard of worker w1 for 10.4 s; attempt 2 given up, it runs again at once");
    entry = {.attempt = {JobId{1}, Epoch{3}},
             .incident = Incident::process_died,
             .repair = Repair::quarantined,
             .end = AttemptEnd{.cause = Cause::crash_signal, .ran = Ran::yes, .exit_code = 11}};
    EXPECT_EQ(story_of(entry), "attempt 3 was killed by signal 11; quarantined, a person decides");
}

}  // namespace
}  // namespace perdure::ledger_test
