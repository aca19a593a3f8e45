// Idle costs nothing (T4): what stays in memory, until when, and what a crash takes with it.
#include <fstream>

#include "store/sqlite/testing/on_disk.h"

namespace perdure {
namespace {

class IdleOnDisk : public OnDisk {
protected:
    IdleOnDisk() {
        open();
        OpenSession change{.session = session, .life = 1, .slots = 4, .lease = timing.lease};
        EXPECT_TRUE(commit({change, OpenStream{session}, heartbeat()}).has_value());
    }

    Heartbeat heartbeat() {
        return {.session = session, .number = ++number, .slots = 4, .lease = timing.lease};
    }
    // A second passes; the worker is heard. Answers the newest tick that is durable.
    std::uint64_t beat() {
        const auto reply = commit({tick(), heartbeat()});
        EXPECT_TRUE(reply.has_value());
        for (const auto& one : reply->replies) EXPECT_TRUE(one.has_value());
        EXPECT_EQ(reply->clock.tick, clock.tick);
        return reply->written_tick;
    }
    Tick tick() {
        const auto seen = clock.tick++;
        clock.now = clock.now + seconds(1);
        return {seen, clock};
    }
    bool claims() {
        const auto reply = commit({Claim{session, 1, 1}});
        return reply && reply->replies.front().has_value();
    }
    ServiceTick on_disk() { return run(store->service())->clock; }

    const Timing timing;
    const SessionId session{20};
    ServiceTick clock;
    std::uint64_t number = 0;
};

TEST_F(IdleOnDisk, ticks_and_renewals_stay_in_memory_for_a_while) {
    EXPECT_EQ(beat(), 0U);
    for (int i = 1; i < 14; ++i) EXPECT_EQ(beat(), 0U) << i;
    EXPECT_EQ(on_disk().tick, 0U) << "what is read is what is written";
    std::uint64_t written = 0;
    while (written == 0 && clock.tick < 30) written = beat();
    EXPECT_LE(clock.now - ServiceTime{}, timing.unwritten + seconds(2));
    EXPECT_EQ(written, clock.tick);
    EXPECT_EQ(on_disk(), clock);
}

TEST_F(IdleOnDisk, what_is_unwritten_goes_ahead_of_the_next_group_that_is_written) {
    for (int i = 0; i < 5; ++i) beat();
    ASSERT_TRUE(commit({submit(10)}).has_value());
    EXPECT_EQ(on_disk(), clock);
    EXPECT_EQ(run(store->session(session))->heartbeat, number);
    EXPECT_EQ(beat(), clock.tick) << "there is work now";
}

// A row that cannot be written undoes its own group alone.
TEST_F(IdleOnDisk, a_group_that_fails_takes_nothing_with_it) {
    ASSERT_TRUE(commit({submit(10)}).has_value());
    ASSERT_TRUE(commit({Cancel{JobId{10}}}).has_value());
    reopen();
    sql("UPDATE job SET spec = x'63' WHERE id = 10");
    ASSERT_TRUE(commit({heartbeat()}).has_value());
    for (int i = 0; i < 5; ++i) beat();
    ASSERT_TRUE(commit({DealWithQuarantined{JobId{10}}})->replies.front().is(Errc::corrupt));
    EXPECT_EQ(on_disk(), clock);
    EXPECT_EQ(run(store->session(session))->heartbeat, number);
}

TEST_F(IdleOnDisk, a_deadline_that_comes_near_is_met_by_written_time) {
    auto spec = *submit(10).spec;
    spec.run_at = WallTime{2} + timing.unwritten_before_due;
    const Submit dated{JobId{10}, std::make_shared<const JobSpec>(spec), 1};
    ASSERT_TRUE(commit({dated}).has_value());
    EXPECT_EQ(beat(), clock.tick);
}

TEST_F(IdleOnDisk, news_are_written) {
    for (int i = 0; i < 4; ++i) {
        EXPECT_LT(beat(), clock.tick);
        auto news = heartbeat();
        if (i == 0) news.slots = 3;
        if (i == 1) news.slots = 3, news.draining = true;
        if (i == 2) news.slots = 4, news.offer.queues = {"mail"};
        if (i == 3) news.lease = timing.detach_lease;
        const auto reply = commit({tick(), news});
        EXPECT_EQ(reply->written_tick, clock.tick) << i;
        ASSERT_TRUE(commit({heartbeat()}).has_value());
    }
}

// Else a go is given under the disk's older lease: the key is given away while the shim goes on.
TEST_F(IdleOnDisk, after_a_crash_a_session_gets_nothing_until_it_is_heard) {
    const auto heard_before = number;
    for (int i = 0; i < 3; ++i) beat();
    store->crash();
    EXPECT_EQ(run(store->session(session))->heartbeat, heard_before);
    last_group = 1;
    clock = {};
    ASSERT_TRUE(commit({submit(10)}).has_value());
    EXPECT_FALSE(claims());
    ASSERT_TRUE(commit({heartbeat()}).has_value());
    EXPECT_EQ(run(store->session(session))->heartbeat, number) << "the first one is written";
    EXPECT_TRUE(claims());
}

TEST_F(IdleOnDisk, a_store_that_is_closed_leaves_nothing_unwritten) {
    for (int i = 0; i < 3; ++i) beat();
    reopen();
    EXPECT_EQ(on_disk(), clock);
}

// What is found if everything dies now: the database, its log and its notes, each from a folder.
class IdleNotes : public IdleOnDisk {
protected:
    void save(const std::string& name) const {
        const auto to = folder + "/" + name;
        std::filesystem::create_directory(to);
        for (const auto* more : {"", "-wal", "-idle"})
            if (std::filesystem::exists(database() + more))
                std::filesystem::copy_file(database() + more, to + "/perdure.db" + more);
    }
    ServiceTick clock_of(const std::string& name) {
        heartbeat_there = 0;
        const auto there =
            SqliteStore::open({.path = folder + "/" + name + "/perdure.db"}, Timing{});
        if (!there) return {};
        heartbeat_there = run((*there)->session(session))->heartbeat;
        return run((*there)->service())->clock;
    }
    std::string notes(const std::string& name) const {
        return folder + "/" + name + "/perdure.db-idle";
    }
    std::uintmax_t log_size() const { return std::filesystem::file_size(database() + "-wal"); }
    // Until the next one is written.
    ServiceTick next_note() {
        const auto before = written_;
        while (written_ == before) written_ = beat();
        return clock;
    }
    void spoil(const std::string& name, std::streamoff at) {
        std::fstream file(notes(name), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(at + 20);
        file.write("spoilt", 6);
    }

    std::uint64_t heartbeat_there = 0;

private:
    std::uint64_t written_ = 0;
};

TEST_F(IdleNotes, cost_no_transaction_and_outlive_the_process) {
    const auto log_before = log_size();
    for (int i = 0; i < 3; ++i) {
        const auto noted = next_note();
        const auto name = std::to_string(i);
        save(name);
        beat();
        EXPECT_EQ(clock_of(name), noted);
        EXPECT_EQ(heartbeat_there, number - 1);
    }
    EXPECT_EQ(log_size(), log_before);
    ASSERT_TRUE(commit({submit(10)}).has_value());
    save("later");
    EXPECT_EQ(clock_of("later"), clock);
    EXPECT_EQ(heartbeat_there, number);
}

TEST_F(IdleNotes, go_with_the_rows_that_they_were_made_for_and_with_no_others) {
    const auto at_first = on_disk();
    save("older");
    ASSERT_TRUE(commit({submit(10), Cancel{JobId{10}}}).has_value());
    next_note();
    save("newer");
    std::filesystem::copy_file(notes("newer"), notes("older"),
                               std::filesystem::copy_options::overwrite_existing);
    EXPECT_EQ(clock_of("older"), at_first) << "commits that are lost must not be hidden (C6)";
}

TEST_F(IdleNotes, are_kept_twice_and_a_write_that_is_cut_off_leaves_the_last) {
    const auto first = next_note();
    const auto second = next_note();
    for (const auto* name : {"half", "page", "all"}) save(name);
    constexpr std::streamoff page = 4'096;
    constexpr std::streamoff half = page / 2;
    // The second one lies on the second page.
    spoil("half", page);
    EXPECT_EQ(clock_of("half"), second);
    spoil("page", page);
    spoil("page", page + half);
    EXPECT_EQ(clock_of("page"), first);
    for (const auto at : {std::streamoff{0}, half, page, page + half}) spoil("all", at);
    EXPECT_LT(clock_of("all").tick, first.tick);
}

TEST_F(IdleNotes, are_written_to_the_tables_by_the_next_life) {
    const auto noted = next_note();
    save("first");
    options.path.clear();
    {
        const auto there = SqliteStore::open({.path = folder + "/first/perdure.db"}, Timing{});
        ASSERT_TRUE(there.has_value());
        ASSERT_TRUE(run((*there)->open_server(ServerId{8}, WallTime{3})).has_value());
        std::filesystem::remove(notes("first"));
    }
    EXPECT_EQ(clock_of("first"), noted);
    EXPECT_EQ(heartbeat_there, number);
}

TEST_F(IdleNotes, do_not_have_the_mark_of_ids_which_is_written_to_its_row) {
    const auto log_before = log_size();
    next_note();
    ASSERT_EQ(log_size(), log_before);
    Group group{.server = ServerId{7},
                .number = ++last_group,
                .id_high_water = 1'000'000,
                .wall = WallTime{2},
                .changes = {tick(), heartbeat()}};
    ASSERT_TRUE(run(store->commit(std::move(group))).has_value());
    next_note();
    EXPECT_GT(log_size(), log_before);
    EXPECT_EQ(run(store->service())->id_high_water, 1'000'000U);
}

}  // namespace
}  // namespace perdure
