#include "core/ownership/hearing.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <vector>

namespace perdure::hearing_test {
namespace {

using Event = HearingFacts::Event;

constexpr Timing timing;
constexpr ServiceTime now{1'000'000'000};
constexpr JobId jobs[] = {JobId{1}, JobId{2}, JobId{3}, JobId{4}};

std::vector<Hearing> every_hearing() {
    std::vector<Hearing> all = {
        {}, {.unconfirmed = {jobs[0]}}, {.unconfirmed = {jobs[0], jobs[1]}}};
    for (const auto wait : {timing.deaf_wait, seconds(160), timing.deaf_wait_max})
        all.push_back({.wait = wait, .claims_from = now});
    return all;
}

std::vector<HearingFacts> every_combination() {
    std::vector<HearingFacts> all;
    for (const auto& known : every_hearing())
        for (const auto event : {Event::unconfirmed, Event::confirmed, Event::claimed})
            for (const auto job : jobs) all.push_back({known, event, job, now});
    return all;
}

Hearing after(Hearing hearing, Event event, JobId job = {}, ServiceTime at = now) {
    return decide_hearing({std::move(hearing), event, job, at}, timing).hearing;
}

// O3: one job on a hung mount must not deafen every host.
TEST(DecideHearing, one_job_deafens_nobody) {
    Hearing hearing;
    for (int i = 0; i < 20; ++i) hearing = after(hearing, Event::unconfirmed, jobs[0]);
    for (int i = 0; i < 20; ++i) hearing = after(hearing, Event::unconfirmed, jobs[1]);
    EXPECT_FALSE(hearing.is_deaf());
    EXPECT_TRUE(after(hearing, Event::unconfirmed, jobs[2]).is_deaf());
}

TEST(DecideHearing, a_confirmed_start_heals_whatever_was_before) {
    for (const auto& f : every_combination())
        if (f.event == Event::confirmed) {
            EXPECT_EQ(decide_hearing(f, timing).hearing, Hearing{});
        }
}

TEST(DecideHearing, turns_deaf_once_and_only_by_an_unconfirmed_start) {
    for (const auto& f : every_combination()) {
        const auto decision = decide_hearing(f, timing);
        const bool turned = !f.known.is_deaf() && decision.hearing.is_deaf();
        EXPECT_EQ(decision.turned_deaf, turned);
        EXPECT_FALSE(turned && f.event != Event::unconfirmed);
    }
}

// After 5 s, doubling to 5 min, however many were under way when it turned deaf.
TEST(DecideHearing, a_deaf_session_is_tried_ever_more_rarely) {
    Hearing hearing;
    for (const auto job : jobs) hearing = after(hearing, Event::unconfirmed, job);
    EXPECT_EQ(hearing.claims_from, now + seconds(5));
    for (const auto wait : {10, 20, 40, 80, 160, 300, 300}) {
        const auto at = hearing.claims_from;
        hearing = after(hearing, Event::claimed, {}, at);
        EXPECT_EQ(hearing.claims_from, at + seconds(wait));
        hearing = after(hearing, Event::unconfirmed, jobs[0], at + seconds(4));
        EXPECT_EQ(hearing.claims_from, at + seconds(wait));
    }
}

// The row has room for it.
TEST(DecideHearing, remembers_few_jobs) {
    for (const auto& f : every_combination())
        EXPECT_LT(decide_hearing(f, timing).hearing.unconfirmed.size(), deaf_after);
}

TEST(DecideHearing, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& f : every_combination()) rules.insert(decide_hearing(f, timing).rule);
    EXPECT_EQ(rules,
              (std::set<std::string_view>{"O3/still_deaf", "O3/the_same_job", "O3/unconfirmed",
                                          "O3/deaf", "O3/live", "O3/tried", "O3/hears"}));
}

// A worker that drains hands back by itself; one that is killed has run.
TEST(IsUnconfirmedStart, is_what_was_given_up_at_its_deadline_or_is_not_listed) {
    for (std::size_t c = 0; c < cause_count; ++c)
        for (std::size_t d = 0; d < detector_names.size(); ++d)
            for (const auto ran : {Ran::no, Ran::maybe, Ran::yes}) {
                const AttemptEnd end{.cause = static_cast<Cause>(c), .ran = ran};
                const Sighting seen{.detector = static_cast<Detector>(d)};
                const bool by_list =
                    seen.detector == Detector::confirmation || seen.detector == Detector::heartbeat;
                EXPECT_EQ(is_unconfirmed_start(end, seen),
                          by_list && end.cause == Cause::evicted && ran != Ran::yes);
            }
}

}  // namespace
}  // namespace perdure::hearing_test
