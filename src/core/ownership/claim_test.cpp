#include "core/ownership/claim.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace perdure::claim_test {
namespace {

constexpr Timing timing;

// E6: first in line never overtakes a higher priority.
TEST(QueuePosition, is_priority_then_first_in_line_then_time_then_id) {
    const QueuePosition in_order[] = {
        {0, true, ServiceTime{900}, JobId{9}}, {5, false, ServiceTime{800}, JobId{8}},
        {5, true, ServiceTime{100}, JobId{7}}, {5, true, ServiceTime{200}, JobId{1}},
        {5, true, ServiceTime{200}, JobId{2}}, {6, false, ServiceTime{1}, JobId{3}},
    };
    EXPECT_TRUE(std::is_sorted(std::begin(in_order), std::end(in_order)));
    EXPECT_EQ(std::adjacent_find(std::begin(in_order), std::end(in_order)), std::end(in_order));
}

TEST(Matches, takes_every_queue_and_kind_that_is_listed_and_all_if_none_is) {
    using Names = std::vector<std::string>;
    for (const std::string tenant : {"default", "other"}) {
        for (const auto& queues : {Names{}, Names{"a"}, Names{"a", "b"}, Names{"c"}}) {
            for (const auto& kinds : {Names{}, Names{"k"}, Names{"l"}}) {
                const bool queue = queues.empty() || queues.front() == "a";
                const bool kind = kinds.empty() || kinds.front() == "k";
                EXPECT_EQ(matches({tenant, queues, kinds}, {"default", "a", "k"}),
                          tenant == "default" && queue && kind);
            }
        }
    }
}

TEST(Matches, a_worker_for_named_kinds_takes_no_commands) {
    EXPECT_FALSE(matches({"default", {}, {"k"}}, {"default", "a", ""}));
    EXPECT_TRUE(matches({"default", {}, {}}, {"default", "a", ""}));
}

constexpr ServiceTime claimed_at{100'000'000};

std::vector<Hearing> every_hearing() {
    std::vector<Hearing> all = {{}, {.unconfirmed = {JobId{1}, JobId{2}}}};
    for (const std::int64_t from : {-1, 0, 1})
        all.push_back({.wait = seconds(5), .claims_from = ServiceTime{claimed_at.us + from}});
    return all;
}

std::vector<ClaimantFacts> every_claimant() {
    std::vector<ClaimantFacts> all;
    for (unsigned bits = 0; bits < 16; ++bits)
        for (const auto& hearing : every_hearing())
            for (const std::int64_t left : {-1, 0, 1, 6'000'000})
                for (const std::int64_t silence : {0, 3'999'999, 4'000'000, 4'000'001})
                    all.push_back({.session_is_open = (bits & 1U) != 0,
                                   .stream_is_current = (bits & 2U) != 0,
                                   .unconfirmed_start = (bits & 4U) != 0,
                                   .starting = (bits & 8U) != 0,
                                   .hearing = hearing,
                                   .lease_deadline = ServiceTime{claimed_at.us + left},
                                   .heard_at = ServiceTime{claimed_at.us - silence},
                                   .clock = {.now = claimed_at}});
    return all;
}

TEST(DecideClaimant, gives_nothing_to_a_session_that_has_ended_or_an_older_stream) {
    for (const auto& f : every_claimant())
        if (!f.session_is_open || !f.stream_is_current) {
            EXPECT_FALSE(decide_claimant(f, timing).allowed);
        }
}

// O3: suspicion costs no running attempt, but nothing more is given.
TEST(DecideClaimant, gives_nothing_to_a_suspect) {
    for (const auto& f : every_claimant()) {
        const bool silent = f.clock.now - f.heard_at >= timing.suspect;
        const bool lease_over = f.clock.now >= f.lease_deadline;
        if (silent || lease_over || f.unconfirmed_start) {
            EXPECT_FALSE(decide_claimant(f, timing).allowed);
        } else if (f.session_is_open && f.stream_is_current && !f.hearing.is_deaf()) {
            EXPECT_TRUE(decide_claimant(f, timing).allowed);
        }
    }
}

// T4: what the last life of the server told it may be lost.
TEST(DecideClaimant, gives_nothing_to_a_session_that_this_life_of_the_server_has_not_heard) {
    for (auto f : every_claimant()) {
        f.heard_in_this_life = false;
        EXPECT_FALSE(decide_claimant(f, timing).allowed);
    }
}

// O3: without any claim there is no start, and deaf would be for ever.
TEST(DecideClaimant, tries_a_deaf_session_with_one_job_when_its_time_has_come) {
    for (const auto& f : every_claimant()) {
        auto hearing_well = f;
        hearing_well.hearing = {};
        if (!f.hearing.is_deaf() || !decide_claimant(hearing_well, timing).allowed) continue;
        const bool is_time = !f.starting && f.clock.now >= f.hearing.claims_from;
        const auto decision = decide_claimant(f, timing);
        EXPECT_EQ(decision.allowed, is_time);
        if (is_time) {
            EXPECT_EQ(decision.max, 1U);
        }
    }
}

TEST(DecideClaimant, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& f : every_claimant()) rules.insert(decide_claimant(f, timing).rule);
    EXPECT_EQ(rules, (std::set<std::string_view>{
                         "O1/session_ended", "O6/older_stream", "O3/lease_over",
                         "O3/suspect_silent", "O3/suspect_unconfirmed_start", "O3/live",
                         "O3/deaf_is_being_tried", "O3/deaf", "O3/deaf_is_tried"}));
}

TEST(ThingsOf, names_each_thing_once_in_one_order_for_everybody) {
    const JobSpec one{.key = "k", .limits = {"b", "a", "b"}};
    const JobSpec two{.key = "k", .limits = {"a", "b"}};
    const std::vector<Permit> expected = {{Permit::Kind::key, "default", "k"},
                                          {Permit::Kind::limit, "default", "a"},
                                          {Permit::Kind::limit, "default", "b"}};
    EXPECT_EQ(permits_of(one), expected);
    EXPECT_EQ(permits_of(two), expected);
}

TEST(ThingsOf, are_not_shared_between_tenants_or_between_key_and_limit) {
    const auto mine = permits_of({.tenant = "mine", .key = "x"});
    const auto other = permits_of({.tenant = "other", .key = "x"});
    const auto limit = permits_of({.tenant = "mine", .limits = {"x"}});
    EXPECT_NE(mine, other);
    EXPECT_NE(mine, limit);
    EXPECT_TRUE(permits_of({}).empty());
}

std::vector<AdmissionFacts> every_admission() {
    std::vector<PermitFacts> states;
    for (const std::uint32_t taken : {0, 1, 2})
        for (const std::uint32_t max : {0, 1, 2})
            for (const bool held : {false, true})
                states.push_back({{Permit::Kind::key, "default", "k"}, taken, max, held});
    std::vector<AdmissionFacts> all;
    std::vector<std::vector<PermitFacts>> permits = {{}};
    for (const auto& first : states) {
        permits.push_back({first});
        for (auto second : states) {
            second.permit = {Permit::Kind::limit, "default", "l"};
            permits.push_back({first, second});
        }
    }
    const std::optional<Duration> suspects[] = {
        std::nullopt, Duration{}, timing.suspect_alone - seconds(1), timing.suspect_alone};
    for (const bool paused : {false, true})
        for (const bool avoids : {false, true})
            for (const auto& suspect : suspects)
                for (const bool empty : {false, true})
                    for (const auto& some : permits)
                        all.push_back({paused, avoids, some, suspect, empty});
    return all;
}

// O9: it shows alone whether it was the one; but it does not wait for that for ever.
bool waits_to_be_alone(const AdmissionFacts& f) {
    return f.suspect_for && *f.suspect_for < timing.suspect_alone && !f.session_is_empty;
}

bool has_room(const PermitFacts& t) { return t.held_by_this_job || t.taken < t.max; }

// C4: no limit is ever exceeded, and nothing that is free blocks.
TEST(DecideAdmission, admits_exactly_if_there_is_room_in_everything_it_needs) {
    for (const auto& f : every_admission()) {
        const bool room = std::all_of(f.permits.begin(), f.permits.end(), has_room);
        const bool wanted = !f.queue_paused && !f.avoids_this_worker && !waits_to_be_alone(f);
        EXPECT_EQ(decide_admission(f, timing).kind == AdmissionDecision::Kind::admit,
                  room && wanted);
    }
}

TEST(DecideAdmission, blocks_on_one_named_thing_that_is_taken) {
    for (const auto& f : every_admission()) {
        const auto decision = decide_admission(f, timing);
        const bool blocks = decision.kind == AdmissionDecision::Kind::block;
        EXPECT_EQ(decision.blocked_on.has_value(), blocks);
        if (!blocks) continue;
        const auto on = std::find_if(f.permits.begin(), f.permits.end(), [&](const auto& t) {
            return t.permit == *decision.blocked_on;
        });
        ASSERT_NE(on, f.permits.end());
        EXPECT_FALSE(has_room(*on));
    }
}

// C4: pausing is a flag that claims read; jobs stay `ready`.
TEST(DecideAdmission, leaves_a_job_that_must_wait_where_it_is) {
    for (const auto& f : every_admission())
        if (f.queue_paused || f.avoids_this_worker || waits_to_be_alone(f)) {
            EXPECT_EQ(decide_admission(f, timing).kind, AdmissionDecision::Kind::skip);
        }
}

TEST(DecideAdmission, gives_each_of_its_rules) {
    std::set<std::string_view> rules;
    for (const auto& f : every_admission()) rules.insert(decide_admission(f, timing).rule);
    EXPECT_EQ(rules, (std::set<std::string_view>{"C4/queue_paused", "policy/another_worker",
                                                 "O9/suspect_waits", "C4/taken", "C4/free"}));
}

std::vector<PromotionFacts> every_promotion() {
    std::vector<PromotionFacts> all;
    for (std::uint32_t free = 0; free <= 3 * promotion_window; ++free)
        for (std::uint32_t wanting = 0; wanting <= 4 * promotion_window; ++wanting)
            all.push_back({.free = free, .wanting = wanting});
    return all;
}

// [P7]: a free permit is offered to somebody, as long as somebody waits for it.
TEST(DecidePromotion, leaves_no_free_thing_without_anybody_who_wants_it) {
    for (const auto& f : every_promotion()) {
        const auto offered = f.wanting + decide_promotion(f).promote;
        EXPECT_GE(offered, std::min(f.free, promotion_window / 2)) << f.free << " " << f.wanting;
    }
}

// Up to the window all that can be taken is offered, so that no slot waits for another claim.
TEST(DecidePromotion, offers_everything_that_fits_into_the_window) {
    for (const auto& f : every_promotion())
        if (f.free <= promotion_window) {
            EXPECT_EQ(decide_promotion(f).promote, f.free - std::min(f.free, f.wanting));
        }
}

TEST(DecidePromotion, never_promotes_more_than_is_free_or_than_the_window) {
    for (const auto& f : every_promotion()) {
        const auto promote = decide_promotion(f).promote;
        EXPECT_LE(promote, promotion_window);
        if (promote > 0) {
            EXPECT_LE(f.wanting + promote, std::min(f.free, promotion_window));
        }
    }
}

}  // namespace
}  // namespace perdure::claim_test
