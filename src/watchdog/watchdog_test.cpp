// Real processes: the watchdog runs in a process of its own, its children are shell scripts, and
// what it says is read from a pipe. Nothing waits for a time to pass, only for things to happen.
#include "watchdog/watchdog.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "watchdog/orphan_processes.h"
#include "watchdog/watched.h"

namespace perdure {
namespace {

constexpr int patience_ms = 20'000;  // for a loaded machine; reached only by a failure

// True as soon as the process, whoever's child it is, has ended.
bool ends(pid_t process) {
    const auto handle = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
    if (handle < 0) return true;
    pollfd source{handle, POLLIN, 0};
    const bool ended = ::poll(&source, 1, patience_ms) == 1;
    ::close(handle);
    return ended;
}

// Never a group: 0 and -1 would hit the test itself and its neighbours.
void kill_process(pid_t process, int signal) {
    ASSERT_GT(process, 1);
    ::kill(process, signal);
}

bool runs(pid_t process) { return !program_of(process).empty(); }

// A script that says its pid and that it is ready; `then` is the rest of its life.
WatchedChild child(std::string name, std::string then, std::string before = ":") {
    const auto script = before + "; echo \"ready $$\" >&3; " + then;
    return {.name = std::move(name),
            .program = "/bin/sh",
            .words =
                [script] {
                    return std::vector<std::string>{"sh", "-c", script};
                },
            .stop_limit = seconds(10)};
}
const std::string for_ever = "exec sleep 1000";

class WatchdogTest : public testing::Test {
protected:
    void SetUp() override {
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // what a killed watchdog leaves comes to the test
        folder_ =
            std::filesystem::temp_directory_path() / ("watchdog." + std::to_string(::getpid()));
        std::filesystem::create_directory(folder_);
    }
    void TearDown() override {
        if (watchdog_ > 0) {
            kill_process(watchdog_, SIGKILL);
            ::waitpid(watchdog_, nullptr, 0);
        }
        // Until nothing is left: each kill may bring up the children of what was killed.
        while (!children_of_this_process().empty()) {
            kill_leftovers({}, "");
            ::waitpid(-1, nullptr, 0);
        }
        ::close(lines_);
        std::filesystem::remove_all(folder_);
    }

    void watch(std::vector<WatchedChild> children, std::string shim = "perdure-shim",
               ServiceManager manager = {}) {
        int ends_of_pipe[2];
        ASSERT_EQ(::pipe2(ends_of_pipe, O_CLOEXEC), 0);
        watchdog_ = ::fork();
        if (watchdog_ == 0)
            ::_exit(
                be_the_watchdog(std::move(children), shim, ends_of_pipe[1], std::move(manager)));
        ::close(ends_of_pipe[1]);
        lines_ = ends_of_pipe[0];
    }

    static int be_the_watchdog(std::vector<WatchedChild> children, const std::string& shim,
                               int to_test, ServiceManager manager) {
        std::vector<std::string> names;
        for (const auto& each : children) names.push_back(each.name);
        WatchdogOptions options;
        options.children = std::move(children);
        options.shim_name = shim;
        options.manager = std::move(manager);
        options.say = [to_test](const std::string& sentence) {
            ::dprintf(to_test, "%s\n", sentence.c_str());
        };
        options.ready = [to_test, names](std::size_t index, const std::string& words) {
            ::dprintf(to_test, "%s is ready: %s\n", names[index].c_str(), words.c_str());
        };
        return run_watchdog(std::move(options));
    }

    // The rest of the next line that begins like this; lines before it are passed over.
    std::string line(const std::string& begin) {
        for (auto heard = next_line(); heard; heard = next_line()) {
            said_ += *heard + "\n";
            if (heard->starts_with(begin)) return heard->substr(begin.size());
        }
        ADD_FAILURE() << "no line begins with '" << begin << "', but:\n" << said_;
        return "";
    }
    std::optional<std::string> next_line() {
        while (true) {
            if (const auto end = unread_.find('\n'); end != std::string::npos) {
                const auto line = unread_.substr(0, end);
                unread_.erase(0, end + 1);
                return line;
            }
            pollfd source{lines_, POLLIN, 0};
            char bytes[512];
            if (::poll(&source, 1, patience_ms) != 1) return std::nullopt;
            const auto count = ::read(lines_, bytes, sizeof bytes);
            if (count <= 0) return std::nullopt;
            unread_.append(bytes, static_cast<std::size_t>(count));
        }
    }
    pid_t ready(const std::string& name) { return std::atoi(line(name + " is ready: ").c_str()); }

    int exit_code() {
        int status = 0;
        EXPECT_TRUE(ends(watchdog_));
        ::waitpid(watchdog_, &status, 0);
        watchdog_ = 0;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    std::string path(const std::string& name) const { return folder_ / name; }

    std::filesystem::path folder_;
    pid_t watchdog_ = 0;
    int lines_ = -1;
    std::string unread_;
    std::string said_;
};

TEST_F(WatchdogTest, starts_a_killed_child_again_and_says_so) {
    watch({child("worker", for_ever)});
    const auto first = ready("worker");
    kill_process(first, SIGKILL);
    EXPECT_EQ(line("worker died by signal 9"), " (Killed); starting it again");
    EXPECT_TRUE(line("worker is back, ").ends_with(" s after it died"));
    const auto second = ready("worker");
    EXPECT_NE(first, second);
    EXPECT_TRUE(runs(second));
}

TEST_F(WatchdogTest, starts_the_worker_when_the_server_is_ready) {
    watch({child("server", for_ever), child("worker", for_ever)});
    EXPECT_GT(ready("server"), 0);
    EXPECT_GT(ready("worker"), 0);
    EXPECT_TRUE(said_.starts_with("server is ready")) << said_;
}

// The kernel does it; the script would not notice the end of its channel.
TEST_F(WatchdogTest, takes_its_children_along_when_it_is_killed) {
    watch({child("server", for_ever), child("worker", for_ever)});
    const auto server = ready("server");
    const auto worker = ready("worker");
    kill_process(watchdog_, SIGKILL);
    EXPECT_TRUE(ends(server));
    EXPECT_TRUE(ends(worker));
}

TEST_F(WatchdogTest, stops_the_worker_before_the_server) {
    const auto log = path("order");
    const auto stops = [&](const std::string& name) {
        return child(name, "while :; do sleep 0.01; done",
                     "trap 'echo " + name + " >>" + log + "; exit 0' TERM");
    };
    watch({stops("server"), stops("worker")});
    ready("server");
    ready("worker");
    kill_process(watchdog_, SIGTERM);
    EXPECT_EQ(exit_code(), 0);
    std::string text;
    std::getline(std::ifstream(log), text, '\0');
    EXPECT_EQ(text, "worker\nserver\n");
}

TEST_F(WatchdogTest, lets_the_worker_detach_and_stops_the_server) {
    const auto log = path("order");
    const auto hears = [&](const std::string& name, const std::string& signal) {
        return child(name, "while :; do sleep 0.01; done",
                     "trap 'echo " + name + " " + signal + " >>" + log + "; exit 0' " + signal);
    };
    auto worker = hears("worker", "USR1");
    worker.detaches = true;
    watch({hears("server", "TERM"), worker});
    ready("server");
    ready("worker");
    kill_process(watchdog_, SIGUSR1);
    EXPECT_EQ(exit_code(), 0);
    std::string text;
    std::getline(std::ifstream(log), text, '\0');
    EXPECT_EQ(text, "worker USR1\nserver TERM\n");
}

TEST_F(WatchdogTest, kills_what_does_not_stop_when_asked_three_times) {
    watch(
        {child("worker", "while :; do sleep 0.01; done", "trap 'echo \"ready asked\" >&3' TERM")});
    const auto worker = ready("worker");
    for (int i = 0; i < 3; ++i)
        kill_process(watchdog_, i == 0 ? SIGTERM : i == 1 ? SIGINT : SIGTERM);
    // Equal signals that are pending count once: ask until it is heard. Such a flood must not keep
    // the watchdog from noticing that its child has ended.
    while (!::waitpid(watchdog_, nullptr, WNOHANG)) kill_process(watchdog_, SIGINT);
    watchdog_ = 0;
    EXPECT_TRUE(ends(worker));
}

TEST_F(WatchdogTest, kills_what_does_not_stop_in_time) {
    auto stubborn = child("worker", "while :; do sleep 0.01; done", "trap '' TERM");
    stubborn.stop_limit = milliseconds(50);
    watch({stubborn});
    const auto worker = ready("worker");
    kill_process(watchdog_, SIGTERM);
    line("worker has not stopped in time");
    EXPECT_EQ(exit_code(), 1);
    EXPECT_TRUE(ends(worker));
}

TEST_F(WatchdogTest, passes_on_an_exit_code_that_only_a_person_can_help) {
    watch({child("server", for_ever, "exit 4"), child("worker", for_ever)});
    EXPECT_EQ(exit_code(), 4);
}

TEST_F(WatchdogTest, stops_the_others_when_one_gives_up) {
    watch({child("server", for_ever), child("worker", "exit 2")});
    const auto server = ready("server");
    EXPECT_EQ(exit_code(), 2);
    EXPECT_TRUE(ends(server));
}

TEST_F(WatchdogTest, goes_on_when_the_worker_has_left_by_itself) {
    watch({child("server", for_ever), child("worker", "exit 0")});
    const auto server = ready("server");
    line("worker has left");
    EXPECT_TRUE(runs(server));
    kill_process(watchdog_, SIGTERM);
    EXPECT_EQ(exit_code(), 0);
}

TEST_F(WatchdogTest, goes_on_trying_while_a_child_dies_at_once) {
    // The third life is a good one.
    const auto count =
        "echo x >>" + path("lives") + "; test $(wc -l <" + path("lives") + ") -ge 3 || exit 1";
    watch({child("worker", for_ever, count)});
    EXPECT_EQ(line("worker ended with exit code 1"), "; starting it again");
    EXPECT_EQ(line("worker ended with exit code 1"), "; starting it again");
    EXPECT_GT(ready("worker"), 0);
}

// A double fork, in a session of its own, as a job could have left it.
TEST_F(WatchdogTest, kills_what_a_dead_child_leaves_behind) {
    const auto daemon = "(setsid sleep 1000 3>&- & echo $! >" + path("pid") + ")";
    watch({child("worker", for_ever, daemon)});
    const auto worker = ready("worker");
    pid_t left = 0;
    std::ifstream(path("pid")) >> left;
    ASSERT_TRUE(runs(left));
    kill_process(worker, SIGKILL);
    line("killed a leftover process: ");  // `setsid`, or `sleep` already
    EXPECT_TRUE(ends(left));
    EXPECT_GT(ready("worker"), 0);
}

TEST_F(WatchdogTest, spares_the_shims_of_a_dead_worker) {
    const auto shim = path("perdure-shim");
    std::filesystem::copy_file("/bin/sleep", shim);
    watch({child("worker", for_ever, "(" + shim + " 1000 3>&- & echo $! >" + path("pid") + ")")});
    const auto worker = ready("worker");
    pid_t left = 0;
    std::ifstream(path("pid")) >> left;
    // Until then it is the shell that is about to become it, and no shim.
    while (program_of(left) != "perdure-shim") ::poll(nullptr, 0, 1);
    kill_process(worker, SIGKILL);
    ready("worker");
    EXPECT_EQ(program_of(left), "perdure-shim");
    // An upgrade replaces the file under a running shim.
    std::filesystem::remove(shim);
    EXPECT_EQ(program_of(left), "perdure-shim");
    kill_process(watchdog_, SIGTERM);
    exit_code();
    EXPECT_TRUE(runs(left)) << "shims outlive the watchdog";
    kill_process(left, SIGKILL);
}

TEST_F(WatchdogTest, passes_on_the_wish_for_a_new_log_file) {
    const auto log = path("hup");
    watch({child("server", "while :; do sleep 0.01; done",
                 "trap 'echo \"heard\" >" + log + "; exit 1' HUP")});
    ready("server");
    kill_process(watchdog_, SIGHUP);
    line("server ended with exit code 1");
    EXPECT_TRUE(std::filesystem::exists(log));
}

// Without the kernel's help: somebody cleared the death signal.
TEST(Watched, ends_when_the_channel_ends) {
    int channel[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, channel), 0);
    const auto pid = ::fork();
    if (pid == 0) {
        ::close(channel[0]);
        boost::asio::io_context context;
        Watched watched(context, {.channel = channel[1]});
        watched.ready("http://127.0.0.1:1");
        watched.end_with_watchdog();
        context.run();
        ::_exit(0);
    }
    ::close(channel[1]);
    char text[64] = {};
    ASSERT_GT(::read(channel[0], text, sizeof text - 1), 0);
    EXPECT_STREQ(text, "ready http://127.0.0.1:1\n");
    ::close(channel[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

// The loop itself says it: one that stands still says nothing.
TEST(Watched, says_that_its_loop_turns_if_somebody_wants_to_know) {
    int channel[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, channel), 0);
    boost::asio::io_context context;
    Watched watched(context, {.channel = channel[1], .alive_every = milliseconds(1)});
    watched.ready("here");
    const auto heard = [&] {
        char text[4096] = {};
        const auto size = ::recv(channel[0], text, sizeof text - 1, MSG_DONTWAIT);
        return std::string(text, size > 0 ? static_cast<std::size_t>(size) : 0);
    };
    EXPECT_EQ(heard(), "ready here\nalive\n");
    ::poll(nullptr, 0, 20);
    EXPECT_EQ(heard(), "") << "the loop stood still";
    context.run_one();
    EXPECT_EQ(heard(), "alive\n");
    ::close(channel[0]);
}

TEST(Watched, takes_only_numbers_for_its_channel_and_its_times) {
    EXPECT_EQ(watchdog_link("3", "15000000").channel, 3);
    EXPECT_EQ(watchdog_link("3", "15000000").alive_every, seconds(15));
    for (const auto* text : {"", "x", "3x", "-1", "2", "99999999999", "99999999999999999999"})
        EXPECT_EQ(watchdog_link(text, nullptr).channel, std::nullopt) << text;
    for (const auto* text : {"", "x", "3x", "-1", "0"})
        EXPECT_EQ(watchdog_link(nullptr, text).alive_every, std::nullopt) << text;
    EXPECT_EQ(watchdog_link(nullptr, nullptr).channel, std::nullopt);
}

}  // namespace
}  // namespace perdure
