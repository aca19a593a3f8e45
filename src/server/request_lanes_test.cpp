#include "server/request_lanes.h"

#include <gtest/gtest.h>

#include <utility>

namespace perdure {
namespace {

constexpr std::size_t group_max = 100;
constexpr std::size_t lane_max = 1'000;

std::unique_ptr<CommitRequest> request(Lane lane, std::vector<Change> changes) {
    auto made = std::make_unique<CommitRequest>();
    made->lane = lane;
    made->changes = std::move(changes);
    return made;
}

// Told apart by their job.
std::unique_ptr<CommitRequest> one(Lane lane, std::uint64_t job) {
    return request(lane, {Cancel{JobId{job}}});
}

std::unique_ptr<CommitRequest> batch_of(std::size_t jobs) {
    return request(Lane::submits, {SubmitAll{std::vector<Submit>(jobs)}});
}

std::unique_ptr<CommitRequest> report(SessionId worker, std::vector<std::uint64_t> jobs) {
    std::vector<Change> changes;
    for (const auto job : jobs) changes.push_back(Report{worker, {JobId{job}, Epoch{1}}});
    auto made = request(Lane::reports, std::move(changes));
    made->worker = worker;
    return made;
}

std::vector<std::uint64_t> jobs_of(const CommitBatch& batch, Lane lane) {
    std::vector<std::uint64_t> jobs;
    for (const auto& request : batch)
        if (request->lane == lane) jobs.push_back(std::get<Cancel>(request->changes[0]).job.value);
    return jobs;
}

class RequestLanesTest : public testing::Test {
protected:
    void fill(Lane lane, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) lanes_.push(one(lane, ++last_));
    }
    RequestLanes lanes_{group_max, lane_max};
    std::uint64_t last_ = 0;
};

TEST_F(RequestLanesTest, a_lane_goes_in_the_order_in_which_it_came) {
    for (const std::uint64_t job : {3, 1, 2}) lanes_.push(one(Lane::reports, job));
    EXPECT_EQ(jobs_of(lanes_.form(), Lane::reports), (std::vector<std::uint64_t>{3, 1, 2}));
    EXPECT_TRUE(lanes_.empty());
}

TEST_F(RequestLanesTest, claims_come_last_and_renewals_first) {
    for (const auto lane : {Lane::claims, Lane::submits, Lane::reports, Lane::heartbeats})
        lanes_.push(one(lane, 1));
    std::vector<Lane> order;
    for (const auto& request : lanes_.form()) order.push_back(request->lane);
    EXPECT_EQ(order,
              (std::vector<Lane>{Lane::heartbeats, Lane::reports, Lane::submits, Lane::claims}));
}

TEST_F(RequestLanesTest, every_lane_keeps_a_tenth_of_a_group) {
    fill(Lane::heartbeats, 500);
    fill(Lane::reports, 500);
    fill(Lane::submits, 500);
    const auto batch = lanes_.form();
    EXPECT_EQ(batch.size(), group_max);
    EXPECT_EQ(jobs_of(batch, Lane::reports).size(), 10U);
    EXPECT_EQ(jobs_of(batch, Lane::submits).size(), 10U);
}

TEST_F(RequestLanesTest, a_lane_that_needs_less_leaves_the_rest_to_others) {
    fill(Lane::heartbeats, 500);
    fill(Lane::submits, 3);
    EXPECT_EQ(jobs_of(lanes_.form(), Lane::heartbeats).size(), 97U);
}

TEST_F(RequestLanesTest, what_is_larger_than_a_group_is_carried_whole) {
    lanes_.push(batch_of(500));
    EXPECT_EQ(lanes_.form().size(), 1U);
}

TEST_F(RequestLanesTest, what_is_larger_than_its_room_waits_for_one_group_at_most) {
    lanes_.push(batch_of(50));
    fill(Lane::heartbeats, 500);
    const auto has_batch = [](const CommitBatch& batch) {
        return batch.back()->lane == Lane::submits;
    };
    EXPECT_FALSE(has_batch(lanes_.form()));
    fill(Lane::heartbeats, 500);  // they never end
    EXPECT_TRUE(has_batch(lanes_.form()));
}

TEST_F(RequestLanesTest, a_lane_is_full_by_itself) {
    fill(Lane::submits, lane_max);
    EXPECT_TRUE(lanes_.is_full(Lane::submits));
    EXPECT_FALSE(lanes_.is_full(Lane::heartbeats));
    lanes_.form();
    EXPECT_FALSE(lanes_.is_full(Lane::submits));
}

TEST_F(RequestLanesTest, what_is_put_back_goes_first_and_counts) {
    fill(Lane::submits, 2);
    auto batch = lanes_.form();
    fill(Lane::submits, 1);
    lanes_.put_back(std::move(batch));
    EXPECT_EQ(jobs_of(lanes_.form(), Lane::submits), (std::vector<std::uint64_t>{1, 2, 3}));
    EXPECT_FALSE(lanes_.is_full(Lane::submits));
}

TEST_F(RequestLanesTest, what_has_waited_too_long_leaves_and_the_others_keep_their_order) {
    for (const std::uint64_t job : {1, 2, 3, 4}) {
        auto made = one(Lane::reports, job);
        made->deadline = BootTime{} + seconds(job % 2 == 0 ? 1 : 9);
        lanes_.push(std::move(made));
    }
    EXPECT_EQ(jobs_of(lanes_.take_expired(BootTime{} + seconds(1)), Lane::reports),
              (std::vector<std::uint64_t>{2, 4}));
    EXPECT_EQ(jobs_of(lanes_.form(), Lane::reports), (std::vector<std::uint64_t>{1, 3}));
}

TEST_F(RequestLanesTest, a_repeated_report_takes_the_place_of_the_one_that_waits) {
    const SessionId worker{7};
    lanes_.push(report(worker, {1, 2}));
    const auto again = report(worker, {2, 1, 3});
    const auto replaced = lanes_.take_repeated(*again);
    ASSERT_TRUE(replaced);
    EXPECT_EQ(replaced->changes.size(), 2U);
    EXPECT_TRUE(lanes_.empty());
}

TEST_F(RequestLanesTest, a_report_that_says_less_or_is_anothers_replaces_nothing) {
    lanes_.push(report(SessionId{7}, {1, 2}));
    EXPECT_FALSE(lanes_.take_repeated(*report(SessionId{7}, {1})));
    EXPECT_FALSE(lanes_.take_repeated(*report(SessionId{8}, {1, 2})));
    EXPECT_EQ(lanes_.form().size(), 1U);
}

TEST_F(RequestLanesTest, what_is_under_way_or_committed_is_not_replaced) {
    const SessionId worker{7};
    lanes_.push(report(worker, {1}));
    auto batch = lanes_.form();
    EXPECT_FALSE(lanes_.take_repeated(*report(worker, {1})));
    batch.front()->committed = true;  // it only asks for its answer
    lanes_.put_back(std::move(batch));
    EXPECT_FALSE(lanes_.take_repeated(*report(worker, {1})));
}

TEST_F(RequestLanesTest, a_claim_counts_as_the_jobs_that_it_may_take) {
    lanes_.push(request(Lane::claims, {Claim{.max = 30}}));
    EXPECT_TRUE(lanes_.has_jobs(30));
    EXPECT_FALSE(lanes_.has_jobs(31));
}

}  // namespace
}  // namespace perdure
