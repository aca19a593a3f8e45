// Servers and groups: numbers, fences and unknown outcomes (C1, L3).
#include <set>

#include "core/ownership/presence.h"
#include "tests/contract/audit.h"
#include "tests/contract/contract.h"

namespace perdure::contract {
namespace {

TEST_P(StoreContract, a_new_server_stands_before_its_first_group) {
    const auto opened = run(store().open_server(ServerId{next_id()}, wall));
    ASSERT_TRUE(opened.has_value());
    EXPECT_EQ(opened->last_group, 0U);
    EXPECT_EQ(opened->fence, 0U);
    EXPECT_LT(opened->number, IdSource::server_number_max);
}

TEST_P(StoreContract, servers_have_different_numbers) {
    std::set<std::uint32_t> numbers;
    for (int i = 0; i < 100; ++i) {
        const auto opened = run(store().open_server(ServerId{next_id()}, wall));
        EXPECT_TRUE(numbers.insert(opened->number).second);
    }
}

TEST_P(StoreContract, a_server_that_opens_again_finds_its_row) {
    const auto before = run(store().open_server(server.id, wall));
    submit(Wanted::job());
    const auto after = run(store().open_server(server.id, wall));
    EXPECT_EQ(after->number, before->number);
    EXPECT_EQ(after->last_group, before->last_group + 1);
}

TEST_P(StoreContract, when_all_numbers_are_taken_the_idlest_server_is_fenced_off) {
    auto idle = open_server();
    submit(Wanted::job());
    commit(other_server, {});
    for (std::uint32_t i = 3; i <= IdSource::server_number_max; ++i) open_server();
    EXPECT_TRUE(run(store().commit(group(server, {}))).has_value());
    ++server.last_group;
    open_server();
    EXPECT_TRUE(run(store().commit(group(idle, {}))).is(Errc::fenced));
    EXPECT_TRUE(run(store().commit(group(server, {}))).has_value());
}

TEST_P(StoreContract, a_server_that_has_opened_again_is_not_the_idlest) {
    for (std::uint32_t i = 2; i < IdSource::server_number_max; ++i) open_server();
    ASSERT_TRUE(run(store().open_server(server.id, wall)).has_value());
    open_server();
    EXPECT_TRUE(run(store().commit(group(other_server, {}))).is(Errc::fenced));
    commit({});
}

TEST_P(StoreContract, ids_go_on_above_everything_that_any_server_has_drawn) {
    auto drawn = group(server, {});
    drawn.id_high_water = next_id() + 1'000'000;
    ASSERT_TRUE(run(store().commit(drawn)).has_value());
    const auto opened = run(store().open_server(ServerId{next_id()}, wall));
    EXPECT_EQ(opened->id_high_water, drawn.id_high_water);
}

// A server's number is given again when all were used; the clock may have been set back since.
TEST_P(StoreContract, ids_go_on_when_all_numbers_were_used_and_the_clock_goes_back) {
    std::uint64_t last = 0;
    for (std::uint32_t life = 0; life < 2 * IdSource::server_number_max; ++life) {
        const ServerId id{next_id()};
        const auto opened = run(store().open_server(id, wall));
        ASSERT_TRUE(opened.has_value());
        ASSERT_LT(opened->number, IdSource::server_number_max) << "that one is the store's own";
        IdSource ids(opened->number, opened->id_high_water);
        const auto drawn = ids.next(wall - seconds(life));
        ASSERT_GT(drawn, last) << "life " << life;
        last = drawn;
        const Group group{.server = id,
                          .number = opened->last_group + 1,
                          .fence = opened->fence,
                          .id_high_water = ids.high_water(),
                          .wall = wall};
        ASSERT_TRUE(run(store().commit(group)).has_value());
    }
}

// What has not committed for so long that every live server would have is dead (L3).
TEST_P(StoreContract, the_row_of_a_server_that_stopped_committing_goes_when_another_opens) {
    if (GetParam().name == "sqlite") GTEST_SKIP() << "as sqlite_inline, but 20,000 syncs";
    const auto dead = run(store().open_server(ServerId{next_id()}, wall));
    ASSERT_TRUE(dead.has_value());
    TestServer silent = open_server();
    auto drawn = group(silent, {});
    drawn.id_high_water = next_id() + 1'000'000;
    ASSERT_TRUE(run(store().commit(drawn)).has_value());
    ++silent.last_group;
    for (std::uint64_t i = 0; i < uses_until_dead; ++i) commit({});
    commit(other_server, {});
    const auto opened = run(store().open_server(ServerId{next_id()}, wall));
    ASSERT_TRUE(opened.has_value());
    EXPECT_EQ(opened->number, dead->number);
    EXPECT_EQ(opened->id_high_water, drawn.id_high_water) << "its ids are not drawn again";
    EXPECT_TRUE(run(store().commit(group(silent, {}))).is(Errc::fenced));
    commit({});
    commit(other_server, {});
}

// So that a job which is not there can be told from one that never was (O6).
TEST_P(StoreContract, the_service_view_knows_the_highest_id_that_was_stored) {
    auto drawn = group(server, {});
    drawn.id_high_water = next_id() + 1'000'000;
    ASSERT_TRUE(run(store().commit(drawn)).has_value());
    ++server.last_group;
    commit(other_server, {});
    EXPECT_EQ(run(store().service())->id_high_water, drawn.id_high_water);
}

TEST_P(StoreContract, a_lower_mark_does_not_lower_the_stored_one) {
    auto high = group(server, {});
    high.id_high_water = next_id() + 1'000'000;
    ASSERT_TRUE(run(store().commit(high)).has_value());
    ++server.last_group;
    commit({});
    const auto opened = run(store().open_server(ServerId{next_id()}, wall));
    EXPECT_EQ(opened->id_high_water, high.id_high_water);
}

TEST_P(StoreContract, a_group_that_comes_twice_counts_once) {
    const auto lost = group(server, {submit_of(Wanted::job())});
    ASSERT_TRUE(run(store().commit(lost)).has_value());
    const auto before = describe(audit());
    EXPECT_TRUE(run(store().commit(lost)).is(Errc::fenced));
    EXPECT_EQ(describe(audit()), before);
}

TEST_P(StoreContract, a_group_that_leaves_one_out_is_fenced_and_does_nothing) {
    auto skipping = group(server, {submit_of(Wanted::job())});
    ++skipping.number;
    EXPECT_TRUE(run(store().commit(skipping)).is(Errc::fenced));
    EXPECT_TRUE(audit().jobs.empty());
    commit({submit_of(Wanted::job())});
    EXPECT_EQ(audit().jobs.size(), 1U);
}

TEST_P(StoreContract, a_group_of_an_unknown_server_is_fenced) {
    const TestServer stranger{.id = ServerId{next_id()}};
    EXPECT_TRUE(run(store().commit(group(stranger, {}))).is(Errc::fenced));
    EXPECT_TRUE(run(store().resolve_unknown(stranger.id, 0)).is(Errc::fenced));
}

TEST_P(StoreContract, each_server_counts_its_own_groups) {
    commit(server, {});
    commit(server, {});
    commit(other_server, {});
    EXPECT_EQ(run(store().resolve_unknown(server.id, 0))->last_group, 2U);
    EXPECT_EQ(run(store().resolve_unknown(other_server.id, 0))->last_group, 1U);
}

TEST_P(StoreContract, settling_tells_that_the_lost_group_has_committed) {
    commit({submit_of(Wanted::job())});
    const auto last = run(store().resolve_unknown(server.id, server.fence));
    ASSERT_TRUE(last.has_value());
    EXPECT_EQ(last->last_group, 1U);
    EXPECT_EQ(last->fence, server.fence + 1);
}

TEST_P(StoreContract, a_lost_group_cannot_commit_after_it_was_settled) {
    const auto lost = group(server, {submit_of(Wanted::job())});
    const auto last = run(store().resolve_unknown(server.id, server.fence));
    ASSERT_TRUE(last.has_value());
    EXPECT_EQ(last->last_group, 0U);
    EXPECT_TRUE(run(store().commit(lost)).is(Errc::fenced));
    EXPECT_TRUE(audit().jobs.empty());

    server.fence = last->fence;
    commit({submit_of(Wanted::job())});
    EXPECT_EQ(audit().jobs.size(), 1U);
}

TEST_P(StoreContract, settling_twice_gives_the_same_answer) {
    const auto first = run(store().resolve_unknown(server.id, 0));
    const auto second = run(store().resolve_unknown(server.id, 0));
    EXPECT_EQ(first->fence, second->fence);
    EXPECT_EQ(first->last_group, second->last_group);
}

TEST_P(StoreContract, settling_with_a_fence_that_was_never_ours_is_fenced) {
    EXPECT_TRUE(run(store().resolve_unknown(server.id, 5)).is(Errc::fenced));
    ASSERT_TRUE(run(store().resolve_unknown(server.id, 0)).has_value());
    ASSERT_TRUE(run(store().resolve_unknown(server.id, 1)).has_value());
    EXPECT_TRUE(run(store().resolve_unknown(server.id, 0)).is(Errc::fenced));
}

TEST_P(StoreContract, changes_of_a_group_are_applied_in_their_order) {
    const auto submitted = submit_of(Wanted::job());
    const auto reply = commit({Cancel{submitted.id}, submitted, Cancel{submitted.id}});
    EXPECT_TRUE(refused(reply.replies[0], Errc::not_found));
    EXPECT_TRUE(reply.replies[1].has_value());
    EXPECT_EQ(get<Cancelled>(reply.replies[2]).kind, CancelDecision::Kind::end_now);
}

TEST_P(StoreContract, a_refused_change_does_not_hurt_its_neighbours) {
    const auto first = submit_of(Wanted::job());
    const auto second = submit_of(Wanted::job());
    const auto reply = commit({first, submit_of(Wanted::limited("undefined")), second});
    EXPECT_TRUE(refused(reply.replies[1], Errc::invalid));
    EXPECT_EQ(state(first.id), JobState::ready);
    EXPECT_EQ(state(second.id), JobState::ready);
}

TEST_P(StoreContract, a_refusal_touches_nothing) {
    const auto mine = open_session({.name = "worker-1"});
    const auto ended = open_session({.name = "worker-2"});
    ASSERT_TRUE(apply(EndSession{ended}).has_value());
    const auto id = submit(Wanted::keyed("k"));
    run_one(mine);
    const auto waiting = submit(Wanted::keyed("k"));
    send_heartbeat(mine);
    pass(seconds(1));

    const auto clock = audit().clock;
    auto stale = open_session_of({.name = "worker-1"});
    stale.session = mine;
    auto unknown = heartbeat_of(mine);
    unknown.session = SessionId{next_id()};
    const auto before = describe(audit()) + describe(session(mine)) + describe(session(ended));
    const auto reply =
        commit({unknown, Tick{clock.tick + 1, clock}, submit_of(Wanted::limited("undefined")),
                stale, Hold{id, true}, Hold{waiting, false}, DealWithQuarantined{id},
                TakeKeeper{{ServerId{1}, 9, {}}, {}}, DefineLimit{"default", "zero", 0},
                Cancel{JobId{next_id()}}});
    for (const auto& refusal : reply.replies) {
        EXPECT_FALSE(refusal.has_value());
        EXPECT_FALSE(refusal.is(Errc::fenced));  // those are counted, see below
    }
    EXPECT_FALSE(reply.work_appeared);
    EXPECT_EQ(describe(audit()) + describe(session(mine)) + describe(session(ended)), before);
}

TEST_P(StoreContract, a_fenced_refusal_touches_only_the_count_of_them) {
    const auto mine = open_session({.name = "worker-1"});
    const auto stranger = open_session({.name = "worker-2"});
    const auto ended = open_session({.name = "worker-3"});
    ASSERT_TRUE(apply(EndSession{ended}).has_value());
    submit(Wanted::once());
    const auto attempt = claim_one(mine);

    auto before = audit();
    const auto reply = commit({Start{stranger, attempt}, Report{stranger, attempt, success()},
                               Progress{Progress::Kind::begin, stranger, attempt, ""},
                               OpenStream{ended}, Claim{ended, 1, 1}});
    for (const auto& refusal : reply.replies) EXPECT_TRUE(refused(refusal, Errc::fenced));
    before.fenced += reply.replies.size();
    EXPECT_EQ(describe(audit()), describe(before));
}

}  // namespace
}  // namespace perdure::contract
