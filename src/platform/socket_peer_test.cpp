#include "platform/socket_peer.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"

namespace perdure {
namespace {

constexpr uid_t stranger = 61'001;

// A loopback port, and what connects to it.
class SocketPeer : public testing::TestWithParam<bool> {
protected:
    SocketPeer() {
        if (GetParam()) peers.use_proc_alone();
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        listener.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        PERDURE_ASSERT(::bind(listener.get(), plain(), size) == 0);
        PERDURE_ASSERT(::listen(listener.get(), 8) == 0);
        PERDURE_ASSERT(::getsockname(listener.get(), plain(), &size) == 0);
    }
    sockaddr* plain() { return reinterpret_cast<sockaddr*>(&address); }
    Fd connect() {
        Fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        PERDURE_ASSERT(::connect(client.get(), plain(), sizeof address) == 0);
        return client;
    }
    Fd accept() { return Fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)); }

    SocketPeers peers;
    Fd listener;
    sockaddr_in address{};
};
INSTANTIATE_TEST_SUITE_P(Sources, SocketPeer, testing::Bool(),
                         [](const auto& from) { return from.param ? "proc" : "netlink"; });

TEST_P(SocketPeer, of_a_loopback_connection_is_the_account_that_opened_it) {
    const auto client = connect();
    const auto server = accept();
    EXPECT_EQ(peers.account_of(server.get()), ::geteuid());
    EXPECT_EQ(peers.account_of(client.get()), ::geteuid()) << "and the other way round";
}

// The kernel lists such a connection as root's, and its request can still be read.
TEST_P(SocketPeer, who_sends_and_leaves_before_it_is_accepted_is_nobody) {
    auto client = connect();
    ASSERT_EQ(::send(client.get(), "GET / HTTP/1.1\r\n\r\n", 18, 0), 18);
    client.reset();
    const auto server = accept();
    char byte = 0;
    ASSERT_EQ(::recv(server.get(), &byte, 1, MSG_PEEK), 1);
    EXPECT_FALSE(peers.account_of(server.get()));
}

TEST_P(SocketPeer, who_has_half_left_is_nobody) {
    const auto client = connect();
    const auto server = accept();
    ::shutdown(client.get(), SHUT_WR);
    EXPECT_FALSE(peers.account_of(server.get()));
}

TEST_P(SocketPeer, of_a_connection_that_was_not_accepted_is_nobody) {
    const auto client = connect();
    EXPECT_FALSE(peers.account_of(client.get()));
}

TEST_P(SocketPeer, another_account_is_told_apart) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be another account";
    int gate[2];
    ASSERT_EQ(::pipe(gate), 0);
    const auto child = ::fork();
    if (child == 0) {
        ::close(gate[1]);
        if (::setresuid(stranger, stranger, stranger) != 0) ::_exit(1);
        const int client = ::socket(AF_INET, SOCK_STREAM, 0);
        if (::connect(client, plain(), sizeof address) != 0) ::_exit(2);
        char byte = 0;
        ::_exit(::read(gate[0], &byte, 1) == 0 ? 0 : 3);
    }
    const auto server = accept();
    EXPECT_EQ(peers.account_of(server.get()), stranger);
    ::close(gate[0]);
    ::close(gate[1]);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST_P(SocketPeer, of_a_unix_socket_is_who_connected) {
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    const Fd one(pair[0]);
    const Fd other(pair[1]);
    EXPECT_EQ(peers.account_of(one.get()), ::geteuid());
}

}  // namespace
}  // namespace perdure
