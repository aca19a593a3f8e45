// Jobs that work against their supervisor, and what a crash leaves at each of its moments: each is
// told apart, and nothing is left behind [P8] [P9].
#include <fstream>

#include "processes/host_processes.h"
#include "processes/testing/harness.h"

namespace perdure {
namespace {

class HostBadCasesTest : public ProcessesTest {
protected:
    void SetUp() override { open(); }

    static bool has_namespaces() { return ::system("unshare --pid --fork true 2>/dev/null") == 0; }
    static void copy_files(const std::string& from, const std::string& to) {
        std::filesystem::create_directory(to);
        for (const auto* name : {"/order", "/started", "/result.json"})
            std::filesystem::copy_file(from + name, to + name);
    }
    const OnDisk* found(const WorkerLife& life, AttemptKey key) {
        for (const auto& one : life.found)
            if (one.attempt == key) return &one;
        return nullptr;
    }
    // A command that runs until it is ended, with a committed checkpoint if that is wanted.
    AttemptKey running(bool with_checkpoint) {
        const auto name = std::to_string(last_job_ + 1);
        const auto key = begin(shell("echo $$ > " + root_ + "/" + name + "; sleep 60"));
        pid_in(name);
        if (!with_checkpoint) return key;
        save_checkpoint(key);
        return key;
    }
    void save_checkpoint(AttemptKey key) {
        const auto socket = directory(key) + "/job";
        const auto said = root_ + "/said";
        std::ofstream(root_ + "/ask.py")
            << "import socket, sys\n"
               "s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
               "s.sendall(b'checkpoint 2\\n{}'); print(s.recv(99).decode().strip())\n";
        const auto line = "python3 " + root_ + "/ask.py " + socket + " > " + said + " &";
        ASSERT_EQ(::system(line.c_str()), 0);
        wait_for(key, Kind::checkpoint);
        processes_->answer(key, Kind::checkpoint, true);
        EXPECT_EQ(text_of(said), "ok");
    }
};

TEST_F(HostBadCasesTest, a_job_that_kills_its_shim_is_killed_itself) {
    const auto key = begin(shell("echo $$ > " + root_ + "/pid; kill -9 $PPID; sleep 60"));
    const auto leader = pid_in("pid");
    const auto event = end_of(key);
    EXPECT_EQ(event.end.cause, Cause::shim_lost);
    EXPECT_EQ(event.end.ran, Ran::maybe);
    EXPECT_FALSE(lives(leader));
}

TEST_F(HostBadCasesTest, a_pid_namespace_of_its_own_hides_nothing) {
    if (!has_namespaces()) GTEST_SKIP() << "no namespaces for us here";
    const auto hidden =
        "unshare --pid --fork sh -c 'trap \"\" TERM; sleep 61 & "
        "echo x > " +
        root_ + "/ready; wait; sleep 61'";
    const auto count_sleepers = [&] {
        std::size_t number = 0;
        for (const auto& row : descendants_of(::getpid(), list_processes()))
            number += row.state != 'Z';
        return number;
    };
    const auto key = begin(shell(hidden));
    text_of(root_ + "/ready");
    EXPECT_GE(count_sleepers(), 4U);  // shim, unshare, its init, a sleeper
    processes_->kill(key, Cause::cancelled);
    EXPECT_EQ(end_of(key).end.cause, Cause::cancelled);
    until("the shim has gone as well", [&] { return count_sleepers() == 0; });

    std::filesystem::remove(root_ + "/ready");
    const auto left = begin(shell(hidden + " & while [ ! -s " + root_ +
                                  "/ready ]; do sleep 0.01; "
                                  "done; exit 3"));
    EXPECT_EQ(end_of(left).end.exit_code, 3);
    until("what it has left is gone", [&] { return count_sleepers() == 0; });
}

TEST_F(HostBadCasesTest, a_job_that_removes_its_own_directory_is_told_with_its_end) {
    const auto key = begin(shell("cd /; rm -rf \"$TMPDIR/..\"; exit 4"));
    const auto event = end_of(key);
    EXPECT_EQ(event.end.cause, Cause::exit);
    EXPECT_EQ(event.end.exit_code, 4);
    processes_->forget(key);
    EXPECT_TRUE(end_of(command({"true"})).end.succeeded);  // and the next one is not hurt
}

TEST_F(HostBadCasesTest, a_working_directory_that_vanishes_hurts_only_who_needs_it) {
    const auto folder = root_ + "/place";
    std::filesystem::create_directory(folder);
    auto spec = shell("rmdir " + folder + "; pwd -P 2>/dev/null; touch here 2>/dev/null || exit 6");
    spec.cwd = folder;
    EXPECT_EQ(end_of(spec).end.exit_code, 6);
    // Its next attempt does not find it: it did not run, and says why.
    const auto again = end_of(spec);
    EXPECT_EQ(again.end.cause, Cause::command_unusable);
    EXPECT_EQ(again.end.ran, Ran::no);
    EXPECT_NE(again.evidence->detail.find(folder), std::string::npos);
}

TEST_F(HostBadCasesTest, a_checkpoint_of_two_gigabytes_is_refused_by_its_size) {
    const auto key = running(false);
    std::ofstream(root_ + "/ask.py")
        << "import socket, sys\n"
           "s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
           "s.sendall(b'checkpoint 2147483648\\n')\n"
           "print(s.recv(99).decode().strip())\n";
    const auto line =
        "python3 " + root_ + "/ask.py " + directory(key) + "/job > " + root_ + "/said";
    ASSERT_EQ(::system((line + " &").c_str()), 0);
    EXPECT_EQ(text_of(root_ + "/said"), "error invalid the body is larger than 1 MiB");
    processes_->kill(key, Cause::cancelled);
    EXPECT_EQ(end_of(key).end.cause, Cause::cancelled);
}

TEST_F(HostBadCasesTest, every_moment_of_a_crash_is_told_apart) {
    const auto waiting = assignment(command({"true"}), asking());
    ASSERT_TRUE(prepare(waiting));
    const auto dirty = running(false);
    const auto clean = running(true);
    const auto saved = begin(shell("exit 7"));
    end_of(saved);
    const auto reported = begin(shell("exit 8"));
    end_of(reported);
    copy_files(directory(reported), root_ + "/kept");
    processes_->forget(reported);
    until("it is gone", [&] { return !std::filesystem::exists(directory(reported)); });
    until("only three shims are left", [&] {
        std::size_t alive = 0;
        for (const auto& row : list_processes())
            alive += row.parent == ::getpid() && row.state != 'Z';
        return alive == 3;
    });
    crash();
    // The server had the report; the crash came before the directory was removed.
    copy_files(root_ + "/kept", directory(reported));

    const auto life = open();
    ASSERT_EQ(life.found.size(), 5U);
    const auto* not_started = found(life, waiting.attempt);
    EXPECT_TRUE(not_started && not_started->shim_alive && !not_started->started);
    for (const auto key : {dirty, clean}) {
        const auto* runs = found(life, key);
        EXPECT_TRUE(runs && runs->shim_alive && runs->started && !runs->result);
        processes_->kill(key, Cause::evicted);
        EXPECT_EQ(end_of(key).end.clean, key == clean);
    }
    EXPECT_EQ(found(life, saved)->result->exit_code, 7);
    EXPECT_EQ(found(life, reported)->result->exit_code, 8);
    for (const auto key : {saved, reported}) EXPECT_FALSE(found(life, key)->shim_alive);
}

// As version 0.1 wrote it, without the records that came later.
TEST_F(HostBadCasesTest, an_order_of_an_older_version_is_understood) {
    crash();
    const AttemptKey key{JobId{77}, {2}};
    std::filesystem::create_directories(directory(key));
    const auto record = [](const std::string& name, const std::string& bytes) {
        return name + " " + std::to_string(bytes.size()) + "\n" + bytes + "\n";
    };
    std::ofstream(directory(key) + "/order")
        << record("perdure_order", "1") << record("job", key.job.text()) << record("epoch", "2")
        << record("assignment", "9") << record("boot", "b") << record("host", "h")
        << record("directory", "/d") << record("cgroup", "") << record("isolation", "fenced")
        << record("effects", "once") << record("asks", "1") << record("hold", "5")
        << record("release_after", "0") << record("rule", "O7/once") << record("kill_margin", "1")
        << record("worker_silence", "1") << record("kill_grace", "1") << record("arg", "true")
        << record("cwd", "") << record("output_max", "10") << record("run_timeout", "10")
        << record("end", "");
    const auto life = open();
    const auto* one = found(life, key);
    ASSERT_TRUE(one);
    EXPECT_EQ(one->assignment, 9U);
    EXPECT_EQ(one->terms.effects, Effects::once);
    EXPECT_FALSE(one->started);
}

// [P2] A flood of progress reaches the worker as at most ten notes in a second, the last one
// included.
TEST_F(HostBadCasesTest, progress_is_told_live_and_a_flood_of_it_is_thinned) {
    std::ofstream(root_ + "/flood.py")
        << "import os, socket, time\n"
           "s = socket.socket(socket.AF_UNIX); s.connect(os.environ['PERDURE_SOCKET'])\n"
           "for i in range(2000):\n"
           "    s.sendall(b'progress %d at %d\\n' % (i // 20, i)); s.recv(9)\n"
           "time.sleep(60)\n";
    const auto key = begin(command({"python3", root_ + "/flood.py"}));
    std::optional<ProcessEvent> last;
    until("the last one is told", [&] {
        for (const auto& event : events_)
            if (event.kind == Kind::progress) last = event;
        return last && last->text == "at 1999";
    });
    EXPECT_EQ(last->percent, 99U);
    EXPECT_LT(count(key, Kind::progress), 400U);
    processes_->kill(key, Cause::cancelled);
    end_of(key);
}

}  // namespace
}  // namespace perdure
