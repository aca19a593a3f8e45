// A worker dies and another one begins on the same state directory (O5, O8).
#include <fstream>

#include "processes/disk/attempt_directory.h"
#include "processes/host_processes.h"
#include "processes/testing/harness.h"
#include "shim/format/attempt_files.h"

namespace perdure {
namespace {

class HostRecoveryTest : public ProcessesTest {
protected:
    bool has_result(AttemptKey key) const {
        return std::filesystem::exists(directory(key) + "/result.json");
    }
    // Runs to its end while nobody is there to hear of it.
    AttemptKey ended_unheard(JobSpec spec) {
        const auto key = begin(std::move(spec));
        until("there is a result", [&] { return has_result(key); });
        crash();
        return key;
    }
};

TEST_F(HostRecoveryTest, a_running_attempt_is_adopted) {
    open();
    const auto key = begin(shell("echo $$ > " + root_ + "/pid; exec sleep 60"));
    const auto leader = pid_in("pid");
    crash();
    EXPECT_TRUE(lives(leader));
    const auto life = open();
    ASSERT_EQ(life.found.size(), 1U);
    EXPECT_EQ(life.found[0].attempt, key);
    EXPECT_EQ(life.found[0].assignment, last_job_);
    EXPECT_TRUE(life.found[0].started);
    EXPECT_TRUE(life.found[0].shim_alive);
    EXPECT_FALSE(life.found[0].result);
    EXPECT_TRUE(lives(leader));
    processes_->kill(key, Cause::cancelled);
    EXPECT_EQ(end_of(key).end.cause, Cause::cancelled);
    EXPECT_FALSE(lives(leader));
}

TEST_F(HostRecoveryTest, terms_survive_the_worker) {
    open();
    auto terms = decide_terms({.effects = Effects::once, .holds_key_or_limit = true}, Timing{});
    const auto given = assignment(command({"sleep", "60"}), terms);
    ASSERT_TRUE(prepare(given));
    crash();
    const auto life = open();
    ASSERT_EQ(life.found.size(), 1U);
    EXPECT_EQ(life.found[0].terms, terms);
    EXPECT_FALSE(life.found[0].started);
    EXPECT_TRUE(life.found[0].shim_alive);
    start(given.attempt);
    wait_for(given.attempt, Kind::started);
    processes_->kill(given.attempt, Cause::cut_off);
    end_of(given.attempt);
}

TEST_F(HostRecoveryTest, a_result_is_found_with_its_evidence) {
    open();
    const auto key = ended_unheard(shell("echo out; printf '[1]' > $PERDURE_RESULT; exit 9"));
    const auto life = open();
    ASSERT_EQ(life.found.size(), 1U);
    ASSERT_TRUE(life.found[0].result);
    EXPECT_EQ(life.found[0].result->exit_code, 9);
    EXPECT_EQ(life.found[0].evidence->result, "[1]");
    EXPECT_EQ(life.found[0].evidence->last_lines, "out\n");
    EXPECT_EQ(output(key), "out\n");
    processes_->forget(key);
    until("it is gone", [&] { return !std::filesystem::exists(directory(key)); });
}

TEST_F(HostRecoveryTest, a_truncated_result_is_none) {
    open();
    const auto key = ended_unheard(command({"true"}));
    const auto file = directory(key) + "/result.json";
    const auto whole = std::filesystem::file_size(file);
    for (const auto size : {std::uintmax_t{0}, std::uintmax_t{1}, whole / 2, whole - 2}) {
        std::filesystem::resize_file(file, size);
        const auto life = open();
        ASSERT_EQ(life.found.size(), 1U);
        EXPECT_FALSE(life.found[0].result) << size;
        EXPECT_TRUE(life.found[0].started);
        crash();
        std::filesystem::resize_file(file, 0);
    }
}

TEST_F(HostRecoveryTest, what_a_dead_shim_has_left_is_killed_before_open_answers) {
    open();
    begin(shell("(setsid sleep 60 & echo $! > " + root_ + "/away); echo $$ > " + root_ +
                "/pid; sleep 60"));
    const auto leader = pid_in("pid");
    const auto away = pid_in("away");
    const auto shim = parent_of(leader);
    crash();
    kill_and_wait(shim);
    const auto life = open();
    EXPECT_FALSE(lives(leader));
    EXPECT_FALSE(lives(away));
    ASSERT_EQ(life.found.size(), 1U);
    EXPECT_TRUE(life.found[0].started);
    EXPECT_FALSE(life.found[0].shim_alive);
}

TEST_F(HostRecoveryTest, damaged_directories_are_moved_aside_and_hurt_nobody) {
    open();
    const auto good = ended_unheard(command({"true"}));
    const auto attempts = options_.directory + "/attempts/";
    std::filesystem::create_directory(attempts + "garbage");
    std::filesystem::create_directory(attempts + JobId{77}.text() + ".1");  // no order
    const auto anothers = attempts + JobId{78}.text() + ".1";
    std::filesystem::create_directory(anothers);
    std::filesystem::copy(directory(good) + "/order", anothers + "/order");
    std::ofstream(attempts + "a-file") << "x";
    const auto torn = attempts + JobId{79}.text() + ".1";
    std::filesystem::create_directory(torn);
    std::ofstream(torn + "/order") << "perdure_order 1\n1\njob 13\n00000";
    const auto life = open();
    ASSERT_EQ(life.found.size(), 1U);
    EXPECT_EQ(life.found[0].attempt, good);
    std::size_t aside = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator(options_.directory + "/damaged"))
        ++aside;
    EXPECT_EQ(aside, 5U);
}

TEST_F(HostRecoveryTest, a_thousand_directories_are_found) {
    open();
    crash();
    Order order;
    order.terms = {.effects = Effects::once, .asks = true, .rule = "O7/once"};
    order.argv = {"true"};
    order.directory = "/";
    for (std::uint64_t i = 1; i <= 1'000; ++i) {
        order.attempt = {JobId{i}, {3}};
        std::filesystem::create_directory(directory(order.attempt));
        std::ofstream(directory(order.attempt) + "/order") << to_text(order);
    }
    const auto life = open();
    ASSERT_EQ(life.found.size(), 1'000U);
    for (const auto& found : life.found) {
        EXPECT_FALSE(found.started);
        EXPECT_FALSE(found.shim_alive);
    }
}

// After a power loss `started` may be gone if it was not synced: then nothing is concluded.
TEST_F(HostRecoveryTest, of_another_boot_only_those_that_asked_are_known_not_to_have_started) {
    open();
    crash();
    Order order;
    order.argv = {"true"};
    order.directory = "/";
    order.boot = "another boot";
    for (const bool asks : {false, true}) {
        order.attempt = {JobId{asks ? 2U : 1U}, {1}};
        order.terms.asks = asks;
        std::filesystem::create_directory(directory(order.attempt));
        std::ofstream(directory(order.attempt) + "/order") << to_text(order);
    }
    const auto life = open();
    ASSERT_EQ(life.found.size(), 2U);
    for (const auto& found : life.found) EXPECT_EQ(found.started, !found.terms.asks);
}

TEST_F(HostRecoveryTest, two_workers_do_not_share_a_directory) {
    open();
    HostProcesses second(context_.get_executor(), options_, Log());
    EXPECT_TRUE(run(second.open()).is(Errc::conflict));
}

TEST_F(HostRecoveryTest, lives_are_counted_and_crashes_remembered) {
    const auto first = open();
    EXPECT_TRUE(first.history.crashes.empty());
    EXPECT_FALSE(first.history.follows_a_crash);
    EXPECT_FALSE(first.directory.machine.empty());
    EXPECT_FALSE(first.directory.boot.empty());
    EXPECT_GT(first.directory.inode, 0U);
    crash();
    const auto second = open();
    EXPECT_EQ(second.life, first.life + 1);
    EXPECT_EQ(second.directory, first.directory);
    EXPECT_EQ(second.history.crashes.size(), 1U);
    EXPECT_TRUE(second.history.follows_a_crash);
    EXPECT_EQ(*run(processes_->next_life()), second.life + 1);
    crash();
    EXPECT_EQ(open().history.crashes.size(), 2U);
    processes_->stopped_cleanly();
    crash();
    const auto last = open();
    EXPECT_EQ(last.history.crashes.size(), 2U);
    EXPECT_FALSE(last.history.follows_a_crash);
    crash();
    std::ofstream(options_.directory + "/life") << "nonsense";
    EXPECT_GT(open().life, last.life);
}

}  // namespace
}  // namespace perdure
