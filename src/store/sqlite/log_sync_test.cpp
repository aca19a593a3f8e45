// What the store tells survives power loss [P1], although it goes on while the disk syncs.
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/detached.hpp>
#include <chrono>
#include <mutex>
#include <set>

#include "store/sqlite/db/connection.h"
#include "store/sqlite/testing/failing_disk.h"
#include "store/sqlite/testing/on_disk.h"

namespace perdure {
namespace {

class LogSyncTest : public OnDisk {
protected:
    ~LogSyncTest() override {
        let_sync();
        store.reset();  // while there is a disk
    }

    // The disk does not finish a sync until let_sync().
    void hold_syncs() { disk.sync_waits = true; }
    void let_sync() {
        disk.sync_waits = false;
        disk.sync_waits.notify_all();
    }
    void wait_for_sync(int number) const {
        while (disk.syncs < number) continue;
    }

    // Asks, and does not wait for the answer.
    template <class T>
    std::shared_ptr<std::optional<T>> ask(Task<T> task) {
        auto answer = std::make_shared<std::optional<T>>();
        boost::asio::co_spawn(loop, give_to(answer, std::move(task)), boost::asio::detached);
        take_answers();
        return answer;
    }
    template <class T>
    static Task<void> give_to(std::shared_ptr<std::optional<T>> answer, Task<T> task) {
        *answer = co_await std::move(task);
    }
    // Large enough that the writer does not sync it itself.
    std::vector<Change> many(std::uint64_t first) {
        std::vector<Change> changes;
        for (auto id = first; id < first + jobs_in_group; ++id) changes.emplace_back(submit(id));
        return changes;
    }
    auto ask_commit(std::vector<Change> changes) {
        Group group{.server = ServerId{7},
                    .number = ++last_group,
                    .wall = WallTime{2},
                    .changes = std::move(changes)};
        return ask(store->commit(std::move(group)));
    }
    auto ask_read(std::uint64_t job) { return ask(store->jobs({JobId{job}})); }

    void take_answers() {
        loop.restart();
        loop.poll();
    }
    void take_all_answers() {
        loop.restart();
        loop.run();
    }

    // For somebody who does not ask the store.
    void wait_until_visible(std::uint64_t job) {
        store::sqlite::Connection other(database(), store::sqlite::Connection::Access::read);
        const auto query = "SELECT count(*) FROM job WHERE id = " + std::to_string(job);
        while (other.number(query.c_str()) == 0) continue;
    }

    static constexpr std::uint64_t jobs_in_group = 300;
    store::sqlite::FailingDisk disk;
};

TEST_F(LogSyncTest, the_writer_goes_on_and_nobody_is_told_before_the_sync) {
    open();
    hold_syncs();
    const auto first = ask_commit(many(1'000));
    const auto second = ask_commit(many(2'000));
    // The writer has done with the first one when it is at the second one.
    wait_until_visible(2'000);
    take_answers();
    EXPECT_FALSE(first->has_value());

    let_sync();
    take_all_answers();
    EXPECT_TRUE(first->value().has_value());
    EXPECT_TRUE(second->value().has_value());
}

TEST_F(LogSyncTest, a_read_does_not_tell_what_could_still_be_lost) {
    open();
    hold_syncs();
    const auto written = ask_commit(many(1'000));
    wait_until_visible(1'000);
    const auto read = ask_read(1'000);
    loop.restart();
    loop.run_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(read->has_value());

    let_sync();
    take_all_answers();
    EXPECT_EQ(read->value()->size(), 1);
}

TEST_F(LogSyncTest, a_small_group_is_told_after_its_own_sync) {
    open();
    hold_syncs();
    const int before = disk.syncs;
    const auto answer = ask_commit({submit(10)});
    wait_for_sync(before + 1);
    take_answers();
    EXPECT_FALSE(answer->has_value());

    let_sync();
    take_all_answers();
    EXPECT_TRUE(answer->value().has_value());
    EXPECT_EQ(disk.syncs, before + 1);
}

TEST_F(LogSyncTest, commits_during_a_sync_share_the_next_one) {
    open();
    const int before = disk.syncs;
    hold_syncs();
    const auto first = ask_commit(many(1'000));
    wait_for_sync(before + 1);
    std::vector<std::shared_ptr<std::optional<Result<GroupReply>>>> others;
    for (std::uint64_t id = 2'000; id < 7'000; id += 1'000) others.push_back(ask_commit(many(id)));
    others.push_back(ask_commit({submit(9'000)}));
    wait_until_visible(9'000);

    let_sync();
    take_all_answers();
    for (const auto& other : others) EXPECT_TRUE(other->value().has_value());
    EXPECT_EQ(disk.syncs, before + 2);
}

TEST_F(LogSyncTest, a_failed_sync_loses_everybody_behind_it) {
    open();
    const int before = disk.syncs;
    hold_syncs();
    disk.sync_fails = true;
    const auto first = ask_commit(many(1'000));
    wait_for_sync(before + 1);
    const auto second = ask_commit({submit(9'000)});
    wait_until_visible(9'000);
    const auto read = ask_read(1'000);

    let_sync();
    take_all_answers();
    EXPECT_TRUE(first->value().is(Errc::outcome_unknown));
    EXPECT_TRUE(second->value().is(Errc::outcome_unknown));
    EXPECT_TRUE(read->value().is(Errc::outcome_unknown));
    EXPECT_TRUE(fatal.has_value());
    EXPECT_EQ(disk.syncs, before + 1);
}

// The power is cut again and again, always just before a sync is done: what is left of the files is
// at least what they were when the sync before began.
class PowerCutTest : public LogSyncTest {
protected:
    struct Cut {
        std::string left;  // the folder with what is left
        std::set<std::uint64_t> told;
    };

    PowerCutTest() {
        disk.before_sync = [this] {
            const std::lock_guard lock(mutex);
            begun = folder + "/cut-" + std::to_string(++copies);
            copy_files(begun);
        };
        disk.after_sync = [this] {
            const std::lock_guard lock(mutex);
            if (!durable.empty()) cuts.push_back({durable, told});
            durable = begun;
        };
    }

    ~PowerCutTest() override { stop_cutting(); }
    void stop_cutting() {
        disk.before_sync = [] {};
        disk.after_sync = [] {};
    }

    void copy_files(const std::string& to) const {
        std::filesystem::create_directories(to);
        for (const std::string name : {"/perdure.db", "/perdure.db-wal"})
            if (std::filesystem::exists(folder + name))
                std::filesystem::copy_file(folder + name, to + name);
    }

    // With some others at times, so that the group is large.
    Task<void> submit_and_note(std::uint64_t job) {
        auto changes = job % 4 == 0 ? many(job * 1'000) : std::vector<Change>{};
        changes.emplace_back(submit(job));
        Group group{.server = ServerId{7},
                    .number = ++last_group,
                    .wall = WallTime{2},
                    .changes = std::move(changes)};
        const auto reply = co_await store->commit(std::move(group));
        EXPECT_TRUE(reply.has_value());
        const std::lock_guard lock(mutex);
        told.insert(job);
    }
    Task<void> read_and_note(std::uint64_t job) {
        std::vector<JobId> ids = {JobId{job}};
        const auto found = co_await store->jobs(std::move(ids));
        const std::lock_guard lock(mutex);
        if (!found->empty()) told.insert(job);
    }
    void spawn(Task<void> task) {
        boost::asio::co_spawn(loop, std::move(task), boost::asio::detached);
    }

    std::mutex mutex;
    std::set<std::uint64_t> told;
    int copies = 0;
    std::string begun, durable;  // copies of the files
    std::vector<Cut> cuts;
};

TEST_F(PowerCutTest, nothing_that_was_told_is_missing) {
    constexpr std::uint64_t jobs = 200;
    open();
    for (std::uint64_t job = 1; job <= jobs; ++job) {
        spawn(submit_and_note(job));
        spawn(read_and_note(job));
        take_answers();
    }
    take_all_answers();
    EXPECT_EQ(told.size(), jobs);
    store.reset();
    stop_cutting();

    const auto whole = folder;
    EXPECT_GT(cuts.size(), 10U);
    for (const auto& cut : cuts) {
        folder = cut.left;
        open();
        for (const auto job : cut.told) EXPECT_TRUE(has_job(job)) << job << " in " << cut.left;
        store.reset();
    }
    folder = whole;
}

}  // namespace
}  // namespace perdure
