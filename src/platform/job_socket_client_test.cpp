#include "platform/job_socket_client.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <thread>

namespace perdure {
namespace {

// A socket in a folder of its own; `serve` answers one connection in a thread.
class JobSocketTest : public testing::Test {
protected:
    void SetUp() override {
        folder_ =
            std::filesystem::temp_directory_path() / ("job_socket." + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override {
        if (server_.joinable()) server_.join();
        std::filesystem::remove_all(folder_);
    }

    // Binds in the folder itself, so that the path may be of any length.
    std::string listen_in(const std::filesystem::path& folder) {
        std::filesystem::create_directories(folder);
        listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const int folder_number = ::open(folder.c_str(), O_PATH | O_CLOEXEC);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/job",
                      folder_number);
        EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        EXPECT_EQ(::listen(listener_, 4), 0);
        ::close(folder_number);
        return folder / "job";
    }

    // Reads `expected` bytes, then sends the answer and closes.
    void serve(std::size_t expected, std::string answer) {
        server_ = std::thread([this, expected, answer = std::move(answer)] {
            const int connection = ::accept(listener_, nullptr, nullptr);
            char bytes[4096];
            while (heard_.size() < expected) {
                const auto count = ::read(connection, bytes, sizeof bytes);
                if (count <= 0) break;
                heard_.append(bytes, static_cast<std::size_t>(count));
            }
            (void)!::write(connection, answer.data(), answer.size());
            ::close(connection);
            ::close(listener_);
        });
    }

    std::filesystem::path folder_;
    int listener_ = -1;
    std::thread server_;
    std::string heard_;
};

TEST_F(JobSocketTest, sends_the_request_and_returns_the_answer_line) {
    const auto path = listen_in(folder_);
    serve(19, "ok\n");
    const auto answer = ask_job_socket(path, "progress 40 copying\n");
    server_.join();
    ASSERT_TRUE(answer) << answer.error().what;
    EXPECT_EQ(*answer, "ok");
    EXPECT_TRUE(heard_.starts_with("progress 40 copying"));
}

TEST_F(JobSocketTest, reaches_a_socket_whose_path_does_not_fit_into_an_address) {
    const auto path = listen_in(folder_ / std::string(120, 'x'));
    ASSERT_GT(path.size(), sizeof(sockaddr_un::sun_path));
    serve(6, "ok\n");
    const auto answer = ask_job_socket(path, "begin\n");
    ASSERT_TRUE(answer) << answer.error().what;
}

TEST_F(JobSocketTest, a_broken_connection_is_no_answer) {
    const auto path = listen_in(folder_);
    serve(6, "o");
    EXPECT_TRUE(ask_job_socket(path, "begin\n").is(Errc::outcome_unknown));
}

TEST_F(JobSocketTest, does_not_wait_for_ever) {
    const auto path = listen_in(folder_);  // accepted by the kernel, answered by nobody
    EXPECT_TRUE(ask_job_socket(path, "begin\n", milliseconds(20)).is(Errc::outcome_unknown));
    ::close(listener_);
}

TEST_F(JobSocketTest, says_when_there_is_no_socket) {
    EXPECT_TRUE(ask_job_socket(folder_ / "nothing", "begin\n").is(Errc::unavailable));
}

}  // namespace
}  // namespace perdure
