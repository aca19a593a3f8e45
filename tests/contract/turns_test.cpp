// Turns: the queues of a tenant, and the shares of a queue, are claimed from in turn (E7).
#include <algorithm>
#include <map>

#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

// Queue `heavy` has weight 3, every other one 1: store_factory.cpp.
JobSpec in(const std::string& queue, const std::string& share = "") {
    auto spec = Wanted::job();
    spec.queue = queue;
    spec.share = share;
    return spec;
}

// "bulk bulk mail"
std::string queues_of(const std::vector<Assignment>& assignments) {
    std::string queues;
    for (const auto& a : assignments) queues += (queues.empty() ? "" : " ") + a.spec->queue;
    return queues;
}

std::string shares_of(const std::vector<Assignment>& assignments) {
    std::string shares;
    for (const auto& a : assignments)
        shares += (shares.empty() ? "" : " ") + (a.spec->share.empty() ? "-" : a.spec->share);
    return shares;
}

class TurnsContract : public StoreContract {
protected:
    void submit_some(int count, const JobSpec& spec) {
        for (int i = 0; i < count; ++i) submit(spec);
    }
    // Turns are not stored: whoever begins anew with each group has none from one to the next.
    bool remembers() const { return !GetParam().restarts; }
};

TEST_P(TurnsContract, a_backlog_in_one_queue_does_not_keep_another_waiting) {
    submit_some(50, in("bulk"));
    submit(in("mail"));
    const auto worker = open_session();
    EXPECT_EQ(queues_of(claim(worker, 3)), "bulk mail bulk");
}

TEST_P(TurnsContract, queues_are_claimed_from_by_their_weights) {
    submit_some(20, in("bulk"));
    submit_some(20, in("heavy"));
    const auto worker = open_session({.slots = 100});
    const auto claimed = claim(worker, 16);
    EXPECT_EQ(std::count_if(claimed.begin(), claimed.end(),
                            [](const Assignment& a) { return a.spec->queue == "heavy"; }),
              12);
}

TEST_P(TurnsContract, a_turn_does_not_end_with_the_claim) {
    if (!remembers()) return;
    submit_some(5, in("bulk"));
    submit_some(5, in("mail"));
    const auto worker = open_session({.slots = 100});
    std::string queues;
    for (int i = 0; i < 6; ++i) queues += queues_of(claim(worker, 1)) + " ";
    EXPECT_EQ(queues, "bulk mail bulk mail bulk mail ");
}

TEST_P(TurnsContract, priority_comes_before_turns) {
    auto urgent = in("bulk");
    urgent.priority = 4;
    submit(in("mail"));
    submit_some(3, urgent);
    const auto worker = open_session();
    EXPECT_EQ(queues_of(claim(worker)), "bulk bulk bulk mail");
}

TEST_P(TurnsContract, the_shares_of_a_queue_take_turns) {
    submit_some(4, in("bulk", "ann"));
    submit_some(2, in("bulk", "bob"));
    submit(in("bulk"));
    const auto worker = open_session();
    EXPECT_EQ(shares_of(claim(worker)), "ann bob - ann bob ann ann");
}

// Whoever has many shares gets no more of the worker than whoever has one.
TEST_P(TurnsContract, shares_take_turns_within_their_queue_alone) {
    submit_some(2, in("bulk", "ann"));
    submit_some(2, in("bulk", "bob"));
    submit_some(4, in("mail", "cy"));
    const auto worker = open_session();
    const auto claimed = claim(worker, 6);
    EXPECT_EQ(queues_of(claimed), "bulk mail bulk mail bulk mail");
    EXPECT_EQ(shares_of(claimed), "ann cy bob cy ann cy");
}

TEST_P(TurnsContract, kinds_of_one_share_stay_first_in_first_out) {
    auto other = in("bulk", "ann");
    other.kind = "other";
    const auto first = submit(in("bulk", "ann"));
    const auto second = submit(other);
    const auto third = submit(in("bulk", "ann"));
    const auto claimed = claim(open_session());
    ASSERT_EQ(claimed.size(), 3U);
    EXPECT_EQ(claimed[0].attempt.job, first);
    EXPECT_EQ(claimed[1].attempt.job, second);
    EXPECT_EQ(claimed[2].attempt.job, third);
}

// E6: "retry now" goes before all turns, and its queue pays for it.
TEST_P(TurnsContract, first_in_line_is_before_all_turns_and_charged_to_its_queue) {
    const auto worker = open_session({.slots = 100});
    submit(in("bulk"));
    const auto attempt = run_one(worker);
    submit_some(2, in("mail"));
    submit_some(2, in("bulk"));
    finish(worker, attempt, conflict_with_somebody());
    EXPECT_EQ(queues_of(claim(worker, 4)), "bulk mail bulk mail");
}

// Its tag never moves, and must not let the backlogs of others come before all that is newer.
TEST_P(TurnsContract, a_queue_that_nobody_takes_does_not_undo_the_turns_of_others) {
    submit(in("idle"));
    submit_some(20, in("bulk"));
    submit_some(10, in("mail"));
    const auto worker = open_session({.slots = 100, .offer = {.queues = {"bulk", "mail"}}});
    const auto claimed = claim(worker, 20);
    EXPECT_EQ(std::count_if(claimed.begin(), claimed.end(),
                            [](const Assignment& a) { return a.spec->queue == "mail"; }),
              10);
}

TEST_P(TurnsContract, a_paused_queue_has_no_turn_and_misses_none) {
    submit_some(3, in("bulk"));
    submit_some(3, in("mail"));
    const auto worker = open_session({.slots = 100});
    ASSERT_TRUE(apply(PauseQueue{"default", "mail", true}).has_value());
    EXPECT_EQ(queues_of(claim(worker, 1)), "bulk");
    ASSERT_TRUE(apply(PauseQueue{"default", "mail", false}).has_value());
    if (!remembers()) return;
    EXPECT_EQ(queues_of(claim(worker, 4)), "mail bulk mail bulk");
}

TEST_P(TurnsContract, offers_by_kind_follow_the_turns_of_all) {
    auto page = in("bulk");
    page.kind = "page";
    for (int i = 0; i < 3; ++i) {
        submit(page);
        submit(in("bulk"));
    }
    submit_some(3, in("mail"));
    const auto pages = open_session({.name = "pages", .offer = {.kinds = {"page"}}});
    const auto both = open_session({.name = "both", .offer = {.kinds = {"work", "page"}}});
    EXPECT_EQ(queues_of(claim(pages, 1)), "bulk");
    if (!remembers()) return;
    EXPECT_EQ(queues_of(claim(both, 3)), "mail bulk mail");
}

TEST_P(TurnsContract, a_share_is_shown_with_its_job) {
    const auto id = submit(in("bulk", "ann"));
    EXPECT_EQ(job(id).spec->share, "ann");
}

INSTANTIATE_TEST_SUITE_P(Stores, TurnsContract, testing::ValuesIn(store_factories()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace perdure::contract
