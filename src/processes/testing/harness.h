// For the tests of this module: a state directory of their own, a worker's side that collects
// events, and waiting for conditions instead of times.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "processes/host_processes.h"
#include "shim/clocks.h"
#include "shim/tree.h"

namespace perdure {

class ProcessesTest : public testing::Test {
protected:
    using Kind = ProcessEvent::Kind;

    ProcessesTest() {
        std::string pattern = std::filesystem::temp_directory_path() / "perdure-test-XXXXXX";
        root_ = ::mkdtemp(pattern.data());
        options_.directory = root_ + "/deep/state";
        options_.shim = PERDURE_SHIM_PATH;
        // With a shim that has a bug these tests must fail (tests/promises).
        for (const std::string_view word : testing::internal::GetArgvs())
            if (word.starts_with("--shim=")) options_.shim = word.substr(7);
        options_.host = "here";
        options_.timing.kill_grace = milliseconds(200);
        options_.cgroups = false;  // what does without them does with them
    }
    ~ProcessesTest() override {
        crash();
        end_all_shims();
        std::error_code ignored;
        std::filesystem::remove_all(root_, ignored);
    }

    // --- a worker's life ---
    Result<WorkerLife> try_open() {
        processes_ = std::make_unique<HostProcesses>(context_.get_executor(), options_, Log());
        auto life = run(processes_->open());
        alive_ = std::make_shared<bool>(true);
        if (life) boost::asio::co_spawn(context_, follow(processes_.get(), alive_), [](auto...) {});
        return life;
    }
    WorkerLife open() {
        auto life = try_open();
        EXPECT_TRUE(life) << (life ? "" : life.error().what);
        return life ? *life : WorkerLife{};
    }
    void crash() {
        *alive_ = false;
        processes_.reset();
        events_.clear();
    }

    // --- attempts ---
    Assignment assignment(JobSpec spec, Terms terms = {}) {
        const bool exclusive = terms.isolation == Isolation::exclusive;
        if (terms.hold == Duration{} && !exclusive) terms.hold = minutes(5);
        Assignment given{.attempt = {JobId{++last_job_}, {1}}, .number = last_job_, .terms = terms};
        given.spec = std::make_shared<JobSpec>(std::move(spec));
        return given;
    }
    static JobSpec shell(std::string script) {
        JobSpec spec;
        spec.argv = {"/bin/sh", "-c", std::move(script)};
        return spec;
    }
    static JobSpec command(std::vector<std::string> argv) {
        JobSpec spec;
        spec.argv = std::move(argv);
        return spec;
    }
    static Terms asking(Isolation isolation = Isolation::fenced) {
        return {.isolation = isolation, .effects = Effects::once, .asks = true};
    }

    Result<void> prepare(const Assignment& given) { return run(processes_->prepare(given)); }
    static BootTime in(Duration wait) { return shim_boot_now() + wait; }
    void start(AttemptKey key, Duration lease = seconds(60)) {
        processes_->start(key, {.go_until = in(seconds(60)), .lease_until = in(lease)});
    }
    // Prepared, started, and its start heard of.
    AttemptKey begin(JobSpec spec, Terms terms = {}) {
        const auto given = assignment(std::move(spec), terms);
        const auto prepared = prepare(given);
        EXPECT_TRUE(prepared) << (prepared ? "" : prepared.error().what);
        start(given.attempt);
        return given.attempt;
    }
    ProcessEvent end_of(AttemptKey key) { return wait_for(key, Kind::ended); }
    ProcessEvent end_of(JobSpec spec, Terms terms = {}) {
        return end_of(begin(std::move(spec), terms));
    }
    std::string output(AttemptKey key) {
        std::string all;
        while (true) {
            auto part = run(processes_->output(key, all.size(), 64 * 1024));
            EXPECT_TRUE(part);
            if (!part || part->empty()) return all;
            all += *part;
        }
    }
    std::string directory(AttemptKey key) const {
        return options_.directory + "/attempts/" + key.job.text() + "." +
               std::to_string(key.epoch.value);
    }

    // --- waiting ---
    template <class T>
    T run(Task<T> task) {
        auto value = std::make_shared<std::optional<T>>();
        boost::asio::co_spawn(context_, keep(std::move(task), value), [](auto...) {});
        until("a call returns", [&] { return value->has_value(); });
        return std::move(**value);
    }
    template <class Condition>
    void until(const std::string& what, Condition condition) {
        const auto give_up_at = in(seconds(30));
        while (!condition()) {
            if (shim_boot_now() >= give_up_at) {
                ADD_FAILURE() << "waited in vain until " << what;
                throw std::runtime_error(what);
            }
            context_.restart();
            context_.run_one_for(std::chrono::milliseconds(2));
        }
    }
    ProcessEvent wait_for(AttemptKey key, Kind kind) {
        std::optional<ProcessEvent> found;
        until("there is an event", [&] {
            for (const auto& event : events_)
                if (event.attempt == key && event.kind == kind) found = event;
            return found.has_value();
        });
        return *found;
    }
    // A file that a job writes in one go, as its first line says.
    std::string text_of(const std::string& path) {
        std::string text;
        until(path + " is written", [&] {
            std::ifstream file(path);
            std::getline(file, text);
            return !text.empty() && file.good();
        });
        return text;
    }
    pid_t pid_in(const std::string& name) { return std::stoi(text_of(root_ + "/" + name)); }
    static bool lives(pid_t pid) { return ::kill(pid, 0) == 0; }
    // And waits until it has ended: until then it has its locks.
    static void kill_and_wait(pid_t pid) {
        const auto handle = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
        ASSERT_GE(handle, 0);
        ::kill(pid, SIGKILL);
        pollfd ended{handle, POLLIN, 0};
        EXPECT_EQ(::poll(&ended, 1, 10'000), 1) << "it does not end";
        ::close(handle);
    }
    static pid_t parent_of(pid_t pid) {
        for (const auto& row : list_processes())
            if (row.pid == pid) return row.parent;
        return 0;
    }
    void until_gone(pid_t pid) {
        until("process " + std::to_string(pid) + " is gone", [&] { return !lives(pid); });
    }

    std::size_t count(AttemptKey key, Kind kind) const {
        std::size_t number = 0;
        for (const auto& event : events_) number += event.attempt == key && event.kind == kind;
        return number;
    }

    std::string root_;
    HostOptions options_;
    boost::asio::io_context context_;
    std::unique_ptr<HostProcesses> processes_;
    std::vector<ProcessEvent> events_;
    std::uint64_t last_job_ = 1'000;

private:
    // As subreaper we have them all, and what they have started.
    static void end_all_shims() {
        while (true) {
            const auto below = descendants_of(::getpid(), list_processes());
            if (below.empty()) return;
            for (const auto& row : below) signal_if_same(row, SIGKILL);
            while (::waitpid(-1, nullptr, WNOHANG) > 0) {
            }
            ::usleep(1'000);
        }
    }

    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);

    template <class T>
    static Task<void> keep(Task<T> task, std::shared_ptr<std::optional<T>> value) {
        value->emplace(co_await std::move(task));
    }
    // What was under way to a worker that has crashed is lost, as in life.
    Task<void> follow(HostProcesses* processes, std::shared_ptr<bool> alive) {
        while (*alive) {
            auto events = co_await processes->next_events();
            if (!*alive) break;
            for (auto& event : events) events_.push_back(std::move(event));
        }
    }
};

}  // namespace perdure
