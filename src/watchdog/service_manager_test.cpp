// A real socket of datagrams in the place of systemd's, and a real watchdog with real children.
#include "watchdog/service_manager.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "watchdog/watchdog.h"

namespace perdure {
namespace {

constexpr int datagram_patience_ms = 20'000;  // reached only by a failure
constexpr std::size_t datagrams_max = 500;    // of which one comes every 20 ms
constexpr auto limit = milliseconds(40);      // a sign of life is due every 20 ms

// What a manager reads.
class NotifySocket {
public:
    explicit NotifySocket(const std::string& name) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, name.data(), name.size());
        if (name.front() == '@') address.sun_path[0] = '\0';
        const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
        socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), size), 0);
    }
    ~NotifySocket() { ::close(socket_); }

    // The next datagram; empty if none comes.
    std::string next() {
        pollfd source{socket_, POLLIN, 0};
        char text[256];
        if (::poll(&source, 1, datagram_patience_ms) != 1) return "";
        const auto size = ::recv(socket_, text, sizeof text, 0);
        return std::string(text, size > 0 ? static_cast<std::size_t>(size) : 0);
    }
    // All that have come so far.
    std::vector<std::string> so_far() {
        std::vector<std::string> all;
        pollfd source{socket_, POLLIN, 0};
        while (::poll(&source, 1, 0) == 1) all.push_back(next());
        return all;
    }
    // All up to this one, without it.
    std::vector<std::string> until(const std::string& last) {
        std::vector<std::string> before;
        auto each = next();
        for (; !each.empty() && each != last && before.size() < datagrams_max; each = next())
            before.push_back(each);
        EXPECT_EQ(each, last);
        return before;
    }

private:
    int socket_ = -1;
};

class ServiceManagerTest : public testing::Test {
protected:
    void SetUp() override {
        folder_ =
            std::filesystem::temp_directory_path() / ("manager." + std::to_string(::getpid()));
        std::filesystem::create_directory(folder_);
    }
    void TearDown() override {
        if (watchdog_ > 1) {
            ::kill(watchdog_, SIGKILL);  // its children end with it
            ::waitpid(watchdog_, nullptr, 0);
        }
        std::filesystem::remove_all(folder_);
    }
    std::string path(const std::string& name) const { return folder_ / name; }

    // Each script gets its channel as descriptor 3.
    void watch(const std::vector<std::string>& scripts, const std::string& socket) {
        WatchdogOptions options;
        for (const auto& script : scripts)
            options.children.push_back({.name = "child", .program = "/bin/sh", .words = [script] {
                                            return std::vector<std::string>{"sh", "-c", script};
                                        }});
        options.say = [](const std::string&) {};
        options.manager = ServiceManager(socket, limit);
        watchdog_ = ::fork();
        if (watchdog_ == 0) ::_exit(run_watchdog(std::move(options)));
    }
    void wait_for_file(const std::string& name) const {
        for (int i = 0; i < datagram_patience_ms && !std::filesystem::exists(path(name)); ++i)
            ::poll(nullptr, 0, 1);
        EXPECT_TRUE(std::filesystem::exists(path(name))) << name;
    }
    void stop() const {
        ASSERT_GT(watchdog_, 1);
        ::kill(watchdog_, SIGTERM);
    }

    std::filesystem::path folder_;
    pid_t watchdog_ = 0;
};

const std::string alive_for_ever = "while :; do echo alive >&3; sleep 0.005; done";

std::size_t signs_in(const std::vector<std::string>& datagrams) {
    return static_cast<std::size_t>(std::ranges::count(datagrams, "WATCHDOG=1"));
}

TEST_F(ServiceManagerTest, is_told_when_all_are_ready_and_when_it_stops) {
    NotifySocket socket(path("notify"));
    // It is started when the first is ready, and ready when the test has looked.
    const auto second = "touch " + path("second") + "; while [ ! -e " + path("go") +
                        " ]; do sleep 0.005; done; echo ready >&3; " + alive_for_ever;
    watch({"echo ready >&3; " + alive_for_ever, second}, path("notify"));
    wait_for_file("second");
    for (const auto& each : socket.so_far()) EXPECT_EQ(each, "WATCHDOG=1");
    std::ofstream(path("go")).put('x');
    for (const auto& each : socket.until("READY=1")) EXPECT_EQ(each, "WATCHDOG=1");
    stop();
    socket.until("STOPPING=1");
    int status = 0;
    ::waitpid(watchdog_, &status, 0);
    watchdog_ = 0;
    EXPECT_EQ(status, 0);
}

TEST_F(ServiceManagerTest, gets_signs_of_life_while_all_loops_turn) {
    NotifySocket socket("@perdure-test-" + std::to_string(::getpid()));
    watch({"echo ready >&3; " + alive_for_ever, "echo ready >&3; " + alive_for_ever},
          "@perdure-test-" + std::to_string(::getpid()));
    socket.until("READY=1");
    for (int i = 0; i < 5; ++i) EXPECT_EQ(socket.next(), "WATCHDOG=1");
}

// Five limits pass, by the count of what the neighbour said meanwhile.
TEST_F(ServiceManagerTest, gets_none_while_one_loop_stands_still) {
    NotifySocket socket(path("notify"));
    const auto hundred =
        "i=0; while [ $i -lt 100 ]; do echo alive >&3; sleep 0.005; i=$((i+1)); done; ";
    watch({"echo ready >&3; while [ ! -e " + path("silent") + " ]; do sleep 0.005; done; " +
               hundred + "touch " + path("done") + "; " + alive_for_ever,
           "echo ready >&3; touch " + path("silent") + "; exec sleep 1000"},
          path("notify"));
    wait_for_file("done");
    socket.until("READY=1");
    stop();
    // One may have been due at the very moment of READY.
    EXPECT_LE(signs_in(socket.until("STOPPING=1")), 1U);
}

// It has a limit of its own, and must not be killed for the silence of its child's start.
TEST_F(ServiceManagerTest, gets_signs_of_life_while_a_child_is_started_again) {
    NotifySocket socket(path("notify"));
    watch({"if [ -e " + path("second") + " ]; then exec sleep 1000; fi; echo ready >&3; touch " +
           path("second") + "; exit 1"},
          path("notify"));
    socket.until("READY=1");
    for (int i = 0; i < 5; ++i) EXPECT_EQ(socket.next(), "WATCHDOG=1");
}

TEST_F(ServiceManagerTest, is_the_watchdogs_alone_to_talk_to) {
    NotifySocket socket(path("notify"));
    ::setenv(notify_variable, path("notify").c_str(), 1);
    ::setenv(watchdog_time_variable, "1000", 1);
    watch({"env >" + path("environment") + "; mv " + path("environment") + " " + path("all") +
           "; echo ready >&3; " + alive_for_ever},
          path("notify"));
    ::unsetenv(notify_variable);
    ::unsetenv(watchdog_time_variable);
    wait_for_file("all");
    std::string text;
    std::getline(std::ifstream(path("all")), text, '\0');
    EXPECT_EQ(text.find("NOTIFY_SOCKET"), std::string::npos) << text;
    EXPECT_EQ(text.find("WATCHDOG_USEC"), std::string::npos) << text;
    EXPECT_NE(text.find("PERDURE_ALIVE_EVERY=10000"), std::string::npos) << text;
}

TEST(ServiceManager, is_what_the_environment_says) {
    const auto limit_with = [](const char* time, const std::string& pid) {
        ::setenv(notify_variable, "@perdure-nobody", 1);
        NotifySocket socket("@perdure-nobody");
        ::setenv(watchdog_time_variable, time, 1);
        if (!pid.empty()) ::setenv(watchdog_pid_variable, pid.c_str(), 1);
        const auto found = ServiceManager::from_environment().watchdog_limit();
        for (const auto* name : {notify_variable, watchdog_time_variable, watchdog_pid_variable})
            ::unsetenv(name);
        return found;
    };
    EXPECT_EQ(limit_with("60000000", ""), seconds(60));
    EXPECT_EQ(limit_with("60000000", std::to_string(::getpid())), seconds(60));
    EXPECT_EQ(limit_with("60000000", "1"), std::nullopt);
    EXPECT_EQ(limit_with("soon", ""), std::nullopt);
    EXPECT_EQ(ServiceManager::from_environment().watchdog_limit(), std::nullopt);
}

TEST(ServiceManager, that_cannot_be_reached_is_nobody) {
    for (const auto* name : {"", "@", "/", "vsock:2:1234", "/nowhere/at/all"}) {
        ServiceManager manager(name, seconds(1));
        EXPECT_EQ(manager.watchdog_limit(), std::nullopt) << name;
        manager.ready();
        manager.stopping();
    }
    ServiceManager manager(std::string("/") + std::string(200, 'x'), seconds(1));
    EXPECT_EQ(manager.watchdog_limit(), std::nullopt);
}

}  // namespace
}  // namespace perdure
