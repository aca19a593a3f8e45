// Ended jobs share notes of when they are to be removed: each goes in its time, and only then.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "store/sqlite/db/connection.h"
#include "store/sqlite/testing/on_disk.h"

namespace perdure {
namespace {

class ForgetNotesOnDisk : public OnDisk {
protected:
    void commit_all(std::vector<Change> changes) { ASSERT_TRUE(commit(std::move(changes))); }

    // Many jobs that end in one group, the last one first.
    std::vector<JobId> end_together(std::uint64_t count) {
        std::vector<JobId> ids;
        std::vector<Change> changes;
        for (std::uint64_t id = 1; id <= count; ++id) {
            ids.push_back(JobId{id});
            changes.emplace_back(submit(id));
        }
        for (auto id = count; id > 0; --id) changes.emplace_back(Cancel{JobId{id}});
        commit_all(std::move(changes));
        return ids;
    }
    Change at(Duration now) {
        const auto tick = ticks++;
        return Tick{tick, {tick + 1, ServiceTime{now.us}, ServiceTime{}}};
    }
    std::vector<JobId> forget(std::uint32_t max) {
        const auto reply = commit({ForgetEnded{max}});
        return std::get<Forgotten>(*reply->replies.front()).jobs;
    }
    std::int64_t number(const char* query) const {
        store::sqlite::Connection connection(database(), store::sqlite::Connection::Access::read);
        return connection.number(query);
    }

    std::uint64_t ticks = 0;
};

TEST_F(ForgetNotesOnDisk, many_share_a_note_and_each_is_removed_once) {
    open();
    const auto ids = end_together(1'200);
    EXPECT_EQ(number("SELECT count(*) FROM forget"), 3);
    commit_all({at(days(13))});
    EXPECT_TRUE(forget(100).empty());

    commit_all({at(days(15))});
    std::vector<JobId> gone;
    for (const std::uint32_t max : {1U, 700U, 498U, 100U}) {
        const auto some = forget(max);
        EXPECT_LE(some.size(), max);
        gone.insert(gone.end(), some.begin(), some.end());
        store.reset();
        EXPECT_TRUE(fsck().empty());
        open();
    }
    EXPECT_EQ(gone, ids);
    EXPECT_EQ(number("SELECT count(*) FROM forget"), 0);
}

TEST_F(ForgetNotesOnDisk, a_job_that_was_ended_anew_is_kept_anew) {
    open();
    end_together(3);
    // As if it had been given another run, which has ended later.
    sql("UPDATE outcome SET forget_at = forget_at + 86400000000 WHERE job = 2");
    reopen();
    commit_all({at(days(14))});
    EXPECT_EQ(forget(100), (std::vector{JobId{1}, JobId{3}}));
    EXPECT_TRUE(has_job(2));
}

// Else one such note among two hundred means half a minute's pause (C8).
TEST_F(ForgetNotesOnDisk, a_note_that_is_outdated_is_work_done) {
    open();
    end_together(4);
    sql("UPDATE outcome SET forget_at = forget_at + 86400000000 WHERE job = 2");
    reopen();
    commit_all({at(days(14))});
    const auto reply = commit({ForgetEnded{3}});
    const auto forgotten = std::get<Forgotten>(*reply->replies.front());
    EXPECT_EQ(forgotten.jobs, (std::vector{JobId{1}, JobId{3}}));
    EXPECT_TRUE(forgotten.unfinished);
}

TEST_F(ForgetNotesOnDisk, a_note_that_cannot_be_understood_stops_nobody) {
    open();
    end_together(3);
    sql("UPDATE forget SET others = x'ff'");
    commit_all({at(days(8)), submit(9), Cancel{JobId{9}}, at(days(30))});
    EXPECT_EQ(forget(100), (std::vector{JobId{1}, JobId{9}}));
}

TEST_F(ForgetNotesOnDisk, a_job_that_cannot_be_understood_stops_nobody) {
    open();
    end_together(3);
    sql("UPDATE job SET spec = x'63' WHERE id = 2");
    reopen();
    commit_all({at(days(14))});
    EXPECT_EQ(forget(100), (std::vector{JobId{1}, JobId{3}}));
}

// Neighbours leave their tables as ranges.
TEST_F(ForgetNotesOnDisk, a_job_that_stays_between_those_that_go_keeps_all_of_its_rows) {
    open();
    end_together(60);
    sql("UPDATE outcome SET forget_at = forget_at + 86400000000 WHERE job % 7 = 0;"
        "INSERT INTO attempt (job, epoch, body) SELECT id, 1, x'' FROM job;"
        "INSERT INTO large (job, epoch, kind, body) SELECT id, 1, 0, x'' FROM job;"
        "INSERT INTO recovery (id, job, epoch, detector, incident, cause, happened_on, body)"
        " SELECT id, id, 1, 0, 0, NULL, 0, x'' FROM job");
    reopen();
    commit_all({at(days(14))});
    EXPECT_EQ(forget(100).size(), 52U);
    EXPECT_EQ(number("SELECT count(*) FROM job WHERE id % 7 = 0"), 8);
    for (const std::string table : {"outcome", "attempt", "large", "recovery"}) {
        const auto rows = "SELECT count(*) FROM " + table + " WHERE job % 7 ";
        EXPECT_EQ(number((rows + "= 0").c_str()), 8) << table;
        EXPECT_EQ(number((rows + "<> 0").c_str()), 0) << table;
    }
}

TEST_F(ForgetNotesOnDisk, what_had_ended_before_there_were_notes_is_noted) {
    open();
    const auto ids = end_together(5);
    store.reset();
    sql("DROP VIEW jobs_in_state; DROP TABLE tally; CREATE TABLE tally (shape, state, jobs);"
        "INSERT INTO tally VALUES (1, 6, 5); ALTER TABLE job DROP COLUMN body_hash_high;"
        "ALTER TABLE idempotency DROP COLUMN body_hash_high;"
        "DROP TABLE owed_end; DROP TABLE owed_thing; DROP TABLE owed_removal;"
        "DROP TABLE forget; CREATE INDEX outcome_forget ON outcome (forget_at);"
        "DROP TABLE copy; ALTER TABLE service DROP COLUMN checksum;"
        "ALTER TABLE server DROP COLUMN checksum; DELETE FROM migration WHERE number >= 5; PRAGMA "
        "user_version = 4");
    open();
    commit_all({at(days(14))});
    EXPECT_EQ(forget(100), ids);
}

}  // namespace
}  // namespace perdure
