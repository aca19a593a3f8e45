#include "drill/world/proxy.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <array>
#include <vector>

namespace perdure::drill {
namespace {

constexpr int turn_ms = 20;  // a cut is noticed so soon
constexpr std::size_t block_size = std::size_t{64} << 10;

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

Fd tcp_socket() { return Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

void send_at_once(const Fd& socket) {
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

Result<std::unique_ptr<Proxy>> Proxy::start(std::uint16_t to) {
    auto listener = tcp_socket();
    auto address = loopback(0);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (!listener || ::bind(listener.get(), generic, size) != 0 ||
        ::listen(listener.get(), 64) != 0 || ::getsockname(listener.get(), generic, &size) != 0)
        return error(Errc::unavailable, std::string("no port for a proxy: ") + ::strerror(errno));
    const auto port = ntohs(address.sin_port);
    return std::unique_ptr<Proxy>(new Proxy(std::move(listener), port, to));
}

Proxy::Proxy(Fd listener, std::uint16_t port, std::uint16_t to)
    : listener_(std::move(listener)), port_(port), to_(to), thread_([this] { run(); }) {}

Proxy::~Proxy() {
    ends_ = true;
    thread_.join();
}

void Proxy::run() {
    bool was_cut = false;
    while (!ends_) {
        if (cut_) {
            was_cut = true;
            ::poll(nullptr, 0, turn_ms);
            continue;
        }
        if (was_cut) pairs_.clear();  // nobody waits that long for a lost packet
        was_cut = false;
        serve();
    }
}

void Proxy::serve() {
    std::vector<pollfd> watched = {{listener_.get(), POLLIN, 0}};
    for (const auto& pair : pairs_) {
        watched.push_back({pair.near.get(), POLLIN, 0});
        watched.push_back({pair.far.get(), POLLIN, 0});
    }
    if (::poll(watched.data(), watched.size(), turn_ms) <= 0 || cut_) return;
    std::size_t at = 1;
    for (auto& pair : pairs_) {
        const bool near = watched[at++].revents != 0;
        const bool far = watched[at++].revents != 0;
        if (near && !pass_on(pair.near.get(), pair.far.get())) pair.closed = true;
        if (far && !pair.closed && !pass_on(pair.far.get(), pair.near.get())) pair.closed = true;
    }
    pairs_.remove_if([](const Pair& pair) { return pair.closed; });
    if (watched[0].revents != 0) accept_one();
}

void Proxy::accept_one() {
    Pair pair{Fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)), tcp_socket()};
    const auto address = loopback(to_);
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    if (!pair.near || ::connect(pair.far.get(), generic, sizeof address) != 0) return;
    send_at_once(pair.near);
    send_at_once(pair.far);
    pairs_.push_back(std::move(pair));
}

bool Proxy::pass_on(int from, int to) {
    std::array<char, block_size> block;
    const auto got = ::recv(from, block.data(), block.size(), 0);
    if (got <= 0) return false;
    std::string_view bytes(block.data(), static_cast<std::size_t>(got));
    while (!bytes.empty()) {
        const auto sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

}  // namespace perdure::drill
