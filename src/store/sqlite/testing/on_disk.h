// OnDisk: a store in a folder of its own, opened and closed as a test likes, with a way to spoil
// its file in between.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <stdlib.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/assert.h"
#include "core/job/submit.h"
#include "ports/pieces.h"
#include "store/sqlite/data_directory.h"
#include "store/sqlite/fsck.h"
#include "store/sqlite/sqlite_store.h"

namespace perdure {

class OnDisk : public testing::Test {
protected:
    OnDisk() {
        auto path = (std::filesystem::temp_directory_path() / "perdure-store-XXXXXX").string();
        PERDURE_ASSERT(mkdtemp(path.data()) != nullptr);
        folder = path;
    }
    ~OnDisk() override { std::filesystem::remove_all(folder); }

    template <class T>
    T run(Task<T> task) {
        std::optional<T> result;
        boost::asio::co_spawn(loop, keep(std::move(task), result), [](std::exception_ptr failure) {
            PERDURE_ASSERT(failure == nullptr);
        });
        loop.restart();
        loop.run();
        return std::move(*result);
    }

    std::string database() const { return folder + "/perdure.db"; }

    void open() {
        auto with = options;
        with.path = database();
        with.fatal = [this](const Error& why) { fatal = why; };
        auto opened = SqliteStore::open(std::move(with), Timing{});
        ASSERT_TRUE(opened.has_value()) << opened.error().what;
        store = std::move(*opened);
        const auto server = run(store->open_server(ServerId{7}, WallTime{1}));
        ASSERT_TRUE(server.has_value());
        last_group = server->last_group;
    }
    void reopen() {
        store.reset();
        open();
    }

    Result<GroupReply> commit(std::vector<Change> changes) {
        Group group{.server = ServerId{7},
                    .number = last_group + 1,
                    .wall = WallTime{2},
                    .changes = std::move(changes)};
        auto reply = run(store->commit(std::move(group)));
        if (reply) ++last_group;
        return reply;
    }
    // A new life of the store gives a session nothing until it is heard (T4). It lists what it has.
    void heartbeat(SessionId id) {
        const auto view = run(store->session(id));
        ASSERT_TRUE(view.has_value()) << view.error().what;
        Heartbeat heartbeat{.session = id,
                            .number = view->heartbeat + 1,
                            .seen = view->assignments,
                            .slots = view->slots,
                            .offer = view->offer,
                            .lease = seconds(10)};
        using Phase = Listed::Phase;
        for (const auto& r : view->runs)
            heartbeat.attempts.push_back(
                {.attempt = r.attempt,
                 .phase = r.state == JobState::running ? Phase::running : Phase::unstarted});
        ASSERT_TRUE(commit({heartbeat}).has_value());
    }
    static Submit submit(std::uint64_t id) {
        JobSpec spec;
        spec.kind = "work";
        const auto hash = body_hash(spec);
        return {JobId{id}, std::make_shared<const JobSpec>(std::move(spec)), hash};
    }
    // A job with a callback that has ended, and one that waits for another.
    static std::vector<Change> related() {
        const auto plain = submit(1).spec;
        auto parent = *plain;
        parent.callbacks = {{Trigger::end, plain}};
        auto waits = *plain;
        waits.after = {{JobId{11}, Trigger::end}};
        return {Submit{JobId{10}, std::make_shared<const JobSpec>(parent), 1}, submit(11),
                Submit{JobId{12}, std::make_shared<const JobSpec>(waits), 2}, Cancel{JobId{10}}};
    }
    bool has_job(std::uint64_t id) { return run(store->jobs({JobId{id}}))->size() == 1; }

    void sql(const std::string& text) {
        sqlite3* handle = nullptr;
        ASSERT_EQ(sqlite3_open(database().c_str(), &handle), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(handle, text.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
            << sqlite3_errmsg(handle);
        sqlite3_close(handle);
    }
    Error refusal() {
        const auto opened = SqliteStore::open({.path = database()}, Timing{});
        return opened ? Error{Errc::invalid, "it was opened"} : opened.error();
    }
    FsckReport fsck_report() {
        const auto directory = DataDirectory::open(folder);
        EXPECT_TRUE(directory.has_value());
        const auto report = fsck_offline(*directory, Timing{});
        EXPECT_TRUE(report.has_value()) << (report ? "" : report.error().what);
        return report ? *report : FsckReport{};
    }
    std::vector<FsckFinding> fsck() { return fsck_report().findings; }

    template <class T>
    static Task<void> keep(Task<T> task, std::optional<T>& result) {
        result = co_await std::move(task);
    }

    std::string folder;
    SqliteOptions options;         // for open(), which sets the path
    boost::asio::io_context loop;  // outlives the store, whose threads post to it
    std::unique_ptr<SqliteStore> store;
    std::uint64_t last_group = 0;
    std::optional<Error> fatal;
};

}  // namespace perdure
