// What only a store on a disk can do: begin again, be refused, run full, fail. Everything else is
// the contract's.
#include "store/sqlite/sqlite_store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "store/sqlite/db/migrate.h"
#include "store/sqlite/migrate_offline.h"
#include "store/sqlite/sqlite_blobs.h"
#include "store/sqlite/testing/failing_disk.h"
#include "store/sqlite/testing/on_disk.h"

namespace perdure {
namespace {

using SqliteStoreOnDisk = OnDisk;

TEST_F(SqliteStoreOnDisk, what_was_answered_is_there_after_a_restart) {
    open();
    ASSERT_TRUE(commit({submit(10), submit(11)}).has_value());
    reopen();
    EXPECT_EQ(last_group, 1U);
    EXPECT_TRUE(has_job(10));
    EXPECT_TRUE(has_job(11));
    EXPECT_EQ(run(read_overview(*store, "default"))->queues.front().jobs[1], 2U);
}

TEST_F(SqliteStoreOnDisk, every_commit_is_synced) {
    store::sqlite::FailingDisk disk;
    open();
    const int before = disk.syncs;
    ASSERT_TRUE(commit({submit(10)}).has_value());
    EXPECT_GT(disk.syncs, before);
    store.reset();
}

TEST_F(SqliteStoreOnDisk, a_full_disk_refuses_and_passes) {
    store::sqlite::FailingDisk disk;
    open();
    ASSERT_TRUE(commit({submit(10)}).has_value());
    disk.is_full = true;
    const auto refused = commit({submit(11)});
    ASSERT_TRUE(refused.is(Errc::unavailable));
    EXPECT_TRUE(refused.error().what.starts_with("disk full: "));
    EXPECT_TRUE(has_job(10));
    EXPECT_FALSE(has_job(11));
    disk.is_full = false;
    EXPECT_TRUE(commit({submit(12)}).has_value());
    EXPECT_FALSE(has_job(11));
    EXPECT_TRUE(has_job(12));
    EXPECT_FALSE(fatal.has_value());
    store.reset();
    EXPECT_TRUE(fsck().empty());
}

TEST_F(SqliteStoreOnDisk, a_failed_sync_ends_it_and_is_never_tried_again) {
    store::sqlite::FailingDisk disk;
    open();
    disk.sync_fails = true;
    ASSERT_TRUE(commit({submit(10)}).is(Errc::outcome_unknown));
    EXPECT_TRUE(fatal.has_value());
    disk.sync_fails = false;
    const int before = disk.syncs;
    EXPECT_TRUE(commit({submit(11)}).is(Errc::unavailable));
    EXPECT_EQ(disk.syncs, before);
    store.reset();
}

TEST_F(SqliteStoreOnDisk, a_file_of_another_program_is_refused_and_left_alone) {
    sql("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)");
    const auto before = std::filesystem::file_size(database());
    const auto why = refusal();
    EXPECT_EQ(why.code, Errc::corrupt);
    EXPECT_NE(why.what.find("another program"), std::string::npos);
    EXPECT_EQ(std::filesystem::file_size(database()), before);
}

TEST_F(SqliteStoreOnDisk, a_file_that_is_no_database_is_refused) {
    std::ofstream(database()) << std::string(10'000, 'x');
    EXPECT_EQ(refusal().code, Errc::corrupt);
}

TEST_F(SqliteStoreOnDisk, a_newer_schema_is_refused_with_what_to_do) {
    open();
    store.reset();
    sql("PRAGMA user_version = 99");
    const auto why = refusal();
    EXPECT_EQ(why.code, Errc::conflict);
    EXPECT_NE(why.what.find("schema 99"), std::string::npos);
}

TEST_F(SqliteStoreOnDisk, a_changed_migration_is_refused) {
    open();
    store.reset();
    sql("UPDATE migration SET checksum = 'other' WHERE number = 1");
    EXPECT_NE(refusal().what.find("migration 1"), std::string::npos);
}

// Neighbours leave `run` with one statement: nobody between them may go with them.
TEST_F(SqliteStoreOnDisk, who_ends_among_others_leaves_them_running) {
    open();
    std::vector<Change> changes;
    for (std::uint64_t id = 100; id < 200; ++id) changes.emplace_back(submit(id));
    changes.emplace_back(OpenSession{.session = SessionId{20}, .slots = 100, .lease = seconds(10)});
    changes.emplace_back(OpenStream{SessionId{20}});
    ASSERT_TRUE(commit(changes).has_value());
    reopen();
    heartbeat(SessionId{20});
    // The second claim knows that the jobs are not in memory, and loads them with their line.
    ASSERT_TRUE(commit({Claim{SessionId{20}, 1, 50}}).has_value());
    ASSERT_TRUE(commit({Claim{SessionId{20}, 1, 50}}).has_value());

    const auto stays = [](std::uint64_t id) { return id == 110 || id % 25 == 0 || id > 190; };
    std::vector<Change> reports;
    const AttemptEnd end{.cause = Cause::exit, .ran = Ran::yes, .succeeded = true};
    for (std::uint64_t id = 199; id >= 100; --id)
        if (!stays(id))
            reports.emplace_back(Report{SessionId{20}, {JobId{id}, Epoch{1}}, end, nullptr});
    const auto reported = commit(reports);
    ASSERT_TRUE(reported.has_value());
    for (const auto& reply : reported->replies) EXPECT_TRUE(reply.has_value());

    for (std::uint64_t id = 100; id < 200; ++id) {
        const auto state = run(store->jobs({JobId{id}}))->front().state;
        EXPECT_EQ(state, stays(id) ? JobState::starting : JobState::succeeded) << id;
    }
    store.reset();
    EXPECT_TRUE(fsck().empty());
}

TEST_F(SqliteStoreOnDisk, a_page_looks_at_so_many_jobs_and_the_next_one_goes_on) {
    open();
    auto rare = submit(10);
    JobSpec spec = *rare.spec;
    spec.key = "rare";
    rare.spec = std::make_shared<const JobSpec>(spec);
    std::vector<Change> changes = {rare};
    for (std::uint64_t id = 100; id < 100 + list_read_max + 50; ++id)
        changes.emplace_back(submit(id));
    ASSERT_TRUE(commit(changes).has_value());
    JobFilter filter{.key = "rare"};
    const auto first = run(store->list(filter));
    ASSERT_TRUE(first.has_value());
    EXPECT_TRUE(first->jobs.empty());
    ASSERT_TRUE(first->next.has_value());
    filter.before = first->next;
    const auto second = run(store->list(filter));
    ASSERT_TRUE(second.has_value());
    ASSERT_EQ(second->jobs.size(), 1U);
    EXPECT_EQ(second->jobs.front().id, JobId{10});
    EXPECT_FALSE(second->next.has_value());
}

TEST_F(SqliteStoreOnDisk, a_forgotten_job_leaves_no_row_of_the_ledger) {
    open();
    const auto at = [](std::uint64_t tick, Duration now) {
        return Tick{tick, {tick + 1, ServiceTime{now.us}, ServiceTime{}}};
    };
    const Sweep expire{.waiting = {JobId{1}}};
    const auto rows = [&] {
        store::sqlite::Connection connection(database(), store::sqlite::Connection::Access::read);
        return connection.number("SELECT count(*) FROM recovery");
    };
    ASSERT_EQ(commit({submit(1), at(0, days(8)), expire})->recoveries.size(), 1U);
    EXPECT_EQ(rows(), 1);
    ASSERT_TRUE(commit({at(1, days(60)), ForgetEnded{}}).has_value());
    EXPECT_FALSE(has_job(1));
    EXPECT_EQ(rows(), 0);
}

TEST_F(SqliteStoreOnDisk, fsck_finds_nothing_in_a_sound_directory) {
    open();
    ASSERT_TRUE(commit({submit(10), submit(11), Cancel{JobId{11}}}).has_value());
    store.reset();
    EXPECT_TRUE(fsck().empty());
}

// Each of these is one row that contradicts another one.
TEST_F(SqliteStoreOnDisk, fsck_finds_every_contradiction) {
    const std::vector<std::pair<const char*, const char*>> damages = {
        {"DELETE FROM ready WHERE job = 10", "0 places"},
        {"INSERT INTO timer (job, date, life) VALUES (10, 5, x'01000001')", "2 places"},
        {"DELETE FROM job WHERE id = 10", "nobody asked"},
        {"INSERT INTO key_holder VALUES ('default', 'k', 10)", "holds key k"},
        {"INSERT INTO limit_holder VALUES ('default', 'l', 1, 10)", "holds limit l"},
        {"UPDATE tally SET ready = ready + 1", "counts 3"},
        {"DELETE FROM ready_wake", "deadline is not noted"},
        {"INSERT INTO line VALUES (10, 3, 9)", "in a line"},
        {"INSERT INTO want VALUES ('default', 0, 'k', 1, 12)", "wanting k"},
        {"UPDATE job SET spec = x'63' WHERE id = 10", "form that is not known"},
        {"UPDATE service SET now_at = 3600000000000000", "overdue"},
    };
    for (const auto& [damage, expected] : damages) {
        SCOPED_TRACE(damage);
        std::filesystem::remove_all(folder);
        std::filesystem::create_directory(folder);
        last_group = 0;
        open();
        ASSERT_TRUE(commit({submit(10), submit(11)}).has_value());
        store.reset();
        sql(damage);
        const auto findings = fsck();
        ASSERT_FALSE(findings.empty());
        EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [&](const FsckFinding& f) {
            return f.what.find(expected) != std::string::npos;
        })) << findings.front().what;
    }
}

TEST_F(SqliteStoreOnDisk, who_waits_and_what_was_added_is_known_after_a_restart) {
    open();
    ASSERT_TRUE(commit(related()).has_value());
    const AddCallback added{JobId{20}, JobId{11}, {Trigger::end, submit(1).spec}};
    ASSERT_TRUE(commit({added}).has_value());
    reopen();
    ASSERT_TRUE(commit({Cancel{JobId{11}}}).has_value());
    EXPECT_EQ(run(store->jobs({JobId{12}}))->front().state, JobState::ready);
    const auto parents = *run(store->jobs({JobId{10}, JobId{11}}));
    ASSERT_EQ(parents.size(), 2U);
    ASSERT_EQ(parents[0].made.size(), 1U);
    ASSERT_EQ(parents[1].made.size(), 1U);
    EXPECT_NE(parents[0].made[0].job, parents[1].made[0].job);
    store.reset();
    EXPECT_TRUE(fsck().empty());
}

TEST_F(SqliteStoreOnDisk, fsck_compares_ends_with_what_they_mean_to_others) {
    const std::vector<std::pair<const char*, const char*>> damages = {
        {"DELETE FROM made", "other callbacks"},
        {"UPDATE made SET generation = 2", "other callbacks"},
        {"DELETE FROM awaited WHERE job = 12", "all that it waits for has ended"},
        {"UPDATE awaited SET other = 10 WHERE job = 12", "was not told"},
        {"UPDATE awaited SET other = 99 WHERE job = 12", "was not told"},
        {"DELETE FROM wait", "0 places"},
        {"DELETE FROM forget", "when it is to be removed"},
        {"UPDATE forget SET forget_at = forget_at + 1", "when it is to be removed"},
        {"INSERT INTO awaited VALUES (77, 0, 11, 0, NULL, NULL)", "nobody asked"},
    };
    for (const auto& [damage, expected] : damages) {
        SCOPED_TRACE(damage);
        std::filesystem::remove_all(folder);
        std::filesystem::create_directory(folder);
        last_group = 0;
        open();
        ASSERT_TRUE(commit(related()).has_value());
        store.reset();
        EXPECT_TRUE(fsck().empty());
        sql(damage);
        const auto findings = fsck();
        ASSERT_FALSE(findings.empty());
        EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [&](const FsckFinding& f) {
            return f.what.find(expected) != std::string::npos;
        })) << findings.front().what;
    }
}

TEST_F(SqliteStoreOnDisk, migrate_says_what_it_did) {
    const auto directory = DataDirectory::open(folder);
    ASSERT_TRUE(directory.has_value());
    const auto first = migrate_offline(*directory, LostLog::refuse);
    ASSERT_TRUE(first.has_value());
    EXPECT_NE(first->find("applied"), std::string::npos);
    EXPECT_NE(migrate_offline(*directory, LostLog::refuse)->find("nothing to do"),
              std::string::npos);
}

using DataDirectoryOnDisk = OnDisk;

TEST_F(DataDirectoryOnDisk, has_one_holder_and_names_it) {
    const auto path = folder + "/deeper/data";
    auto first = DataDirectory::open(path);
    ASSERT_TRUE(first.has_value());
    const auto second = DataDirectory::open(path, milliseconds(60));
    ASSERT_TRUE(second.is(Errc::conflict));
    EXPECT_NE(second.error().what.find(std::to_string(getpid())), std::string::npos);
    { const auto moved = std::move(*first); }
    EXPECT_TRUE(DataDirectory::open(path).has_value());
}

// A database in a folder that a power cut takes back is lost with every job in it [P1].
TEST_F(DataDirectoryOnDisk, its_name_is_synced_in_each_folder_that_got_a_new_one) {
    std::vector<std::string> synced;
    const auto note = [&](const std::string& path) {
        synced.push_back(path);
        return true;
    };
    ASSERT_TRUE(make_data_directory(folder + "/deeper/data/", note).has_value());
    EXPECT_EQ(synced, (std::vector{folder, folder + "/deeper"}));
    synced.clear();
    ASSERT_TRUE(make_data_directory(folder + "/deeper/data", note).has_value());
    EXPECT_EQ(synced, std::vector{folder + "/deeper"}) << "who made it may have died before";
    const auto refuse = [](const std::string&) {
        errno = EIO;
        return false;
    };
    EXPECT_TRUE(make_data_directory(folder + "/other", refuse).is(Errc::unavailable));
}

TEST_F(DataDirectoryOnDisk, a_folder_without_a_database_is_not_taken_for_one) {
    EXPECT_TRUE(DataDirectory::open_existing(folder).is(Errc::not_found));
    EXPECT_FALSE(std::filesystem::exists(folder + "/lock"));
}

TEST_F(DataDirectoryOnDisk, a_path_that_cannot_be_a_folder_is_refused_with_a_sentence) {
    std::ofstream(folder + "/file") << "x";
    EXPECT_TRUE(DataDirectory::open(folder + "/file/data").is(Errc::unavailable));
}

TEST_F(DataDirectoryOnDisk, one_that_others_can_write_is_refused_and_left_as_it_is) {
    const auto path = folder + "/data";
    std::filesystem::create_directory(path);
    std::filesystem::permissions(path, std::filesystem::perms::all);
    EXPECT_TRUE(DataDirectory::open(path).is(Errc::forbidden));
    EXPECT_FALSE(std::filesystem::exists(path + "/lock"));
}

TEST_F(DataDirectoryOnDisk, a_link_in_the_place_of_its_files_is_not_followed) {
    const auto path = folder + "/data";
    std::filesystem::create_directory(path);
    std::ofstream(folder + "/precious") << "precious";
    std::filesystem::create_symlink(folder + "/precious", path + "/lock");
    EXPECT_TRUE(DataDirectory::open(path).is(Errc::forbidden));
    EXPECT_EQ(std::filesystem::file_size(folder + "/precious"), 8U);
    // The database by itself, whatever has looked before.
    std::filesystem::create_symlink(folder + "/other.db", database());
    EXPECT_FALSE(SqliteStore::open({.path = database()}, Timing{}).has_value());
    EXPECT_FALSE(std::filesystem::exists(folder + "/other.db"));
}

TEST_F(DataDirectoryOnDisk, what_it_holds_is_for_its_owner_alone) {
    const auto before = ::umask(022);
    const auto directory = DataDirectory::open(folder + "/data");
    ::umask(before);
    ASSERT_TRUE(directory.has_value());
    struct stat about {};
    ASSERT_EQ(::stat((directory->path() + "/lock").c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 077U, 0U);
    ASSERT_EQ(::stat(directory->path().c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 077U, 0U);
}

TEST_F(SqliteStoreOnDisk, the_policy_of_a_worker_survives_the_server) {
    PolicyChoice policy{.rules = {{.causes = {Cause::exit}, .times = 2}}};
    policy.level = PolicyLevel::worker;
    OpenSession change{.session = SessionId{5}, .worker = "gpu-7", .lease = seconds(10)};
    change.policy = std::make_shared<const PolicyChoice>(policy);
    open();
    ASSERT_TRUE(commit({change}).has_value());
    reopen();
    const auto session = run(store->session(SessionId{5}));
    ASSERT_TRUE(session.has_value() && session->policy);
    EXPECT_EQ(*session->policy, policy);
}

// After a start no line is known. A group reads 1,000 of them; nothing is taken before all are
// read, so that what is in the last of them is still the first (C8).
TEST_F(SqliteStoreOnDisk, lines_are_read_a_piece_at_a_time_and_nothing_is_taken_before) {
    open();
    constexpr std::uint64_t lines = 2'500;
    std::vector<Change> submits;
    for (std::uint64_t i = 1; i <= lines; ++i) {
        auto spec = *submit(1).spec;
        spec.queue = "q" + std::to_string(i);
        spec.priority = i == lines ? 0 : 5;
        submits.emplace_back(Submit{JobId{i}, std::make_shared<const JobSpec>(spec), i});
    }
    ASSERT_TRUE(commit(std::move(submits)).has_value());
    ASSERT_TRUE(commit({OpenSession{.session = SessionId{5'000},
                                    .worker = "w",
                                    .slots = 10,
                                    .offer = {},
                                    .lease = seconds(10)},
                        OpenStream{SessionId{5'000}}})
                    .has_value());
    reopen();
    heartbeat(SessionId{5'000});
    const auto claim = [&] {
        const auto reply = commit({Claim{SessionId{5'000}, 1, 1}, Claim{SessionId{5'000}, 1, 1}});
        EXPECT_TRUE(reply.has_value() && reply->replies[0]) << "the claims were refused";
        return std::get<Claimed>(*reply->replies[0]);
    };
    for (int group = 1; group <= 2; ++group) {
        const auto claimed = claim();
        EXPECT_TRUE(claimed.unfinished) << group;
        EXPECT_TRUE(claimed.assignments.empty()) << group;
        EXPECT_EQ(claimed.left, 1U) << group;
    }
    const auto claimed = claim();
    ASSERT_EQ(claimed.assignments.size(), 1U);
    EXPECT_EQ(claimed.assignments[0].attempt.job, JobId{lines});
}

}  // namespace
}  // namespace perdure
