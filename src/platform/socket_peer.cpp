#include "platform/socket_peer.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>

#include "platform/users.h"

namespace perdure {
namespace {

constexpr std::uint8_t tcp_is_established = 1;
constexpr std::size_t overflow_text_max = 64;
constexpr std::size_t names_max = 1'000;

// Addresses as the kernel compares them: an IPv4 address within an IPv6 one is the IPv4 address.
struct End {
    std::array<std::uint32_t, 4> address{};  // network order, IPv4 in the first
    std::uint16_t port = 0;                  // network order

    friend bool operator==(const End&, const End&) = default;
};
struct Ends {
    int family = AF_INET;
    End theirs;
    End ours;
};

End plain(const std::array<std::uint32_t, 4>& address, std::uint16_t port) {
    const bool is_mapped = address[0] == 0 && address[1] == 0 && address[2] == htonl(0xffff);
    if (is_mapped) return {{address[3], 0, 0, 0}, port};
    return {address, port};
}

std::optional<End> end_of(const sockaddr_storage& from) {
    if (from.ss_family == AF_INET) {
        sockaddr_in four{};
        std::memcpy(&four, &from, sizeof four);
        return End{{four.sin_addr.s_addr, 0, 0, 0}, four.sin_port};
    }
    if (from.ss_family != AF_INET6) return std::nullopt;
    sockaddr_in6 six{};
    std::memcpy(&six, &from, sizeof six);
    std::array<std::uint32_t, 4> address{};
    std::memcpy(address.data(), &six.sin6_addr, sizeof address);
    return plain(address, six.sin6_port);
}

std::optional<Ends> ends_of(int socket) {
    sockaddr_storage ours{};
    sockaddr_storage theirs{};
    socklen_t size = sizeof ours;
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&ours), &size) != 0) return std::nullopt;
    size = sizeof theirs;
    if (::getpeername(socket, reinterpret_cast<sockaddr*>(&theirs), &size) != 0)
        return std::nullopt;
    const auto here = end_of(ours);
    const auto there = end_of(theirs);
    if (!here || !there) return std::nullopt;
    const auto& address = there->address;
    const bool is_four = address[1] == 0 && address[2] == 0 && address[3] == 0;
    return Ends{is_four ? AF_INET : AF_INET6, *there, *here};
}

bool is_established(int socket) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
    return info.tcpi_state == tcp_is_established;
}

struct Listed {
    std::uint8_t state = 0;
    std::uint32_t uid = 0;
    std::uint64_t inode = 0;
};

struct Question {
    nlmsghdr header{};
    inet_diag_req_v2 body{};
};

bool ask(int netlink, const Ends& ends) {
    Question question;
    question.header.nlmsg_len = sizeof question;
    question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    question.header.nlmsg_flags = NLM_F_REQUEST;
    auto& body = question.body;
    body.sdiag_family = static_cast<std::uint8_t>(ends.family);
    body.sdiag_protocol = IPPROTO_TCP;
    body.idiag_states = ~0U;
    body.id.idiag_sport = ends.theirs.port;
    body.id.idiag_dport = ends.ours.port;
    std::memcpy(body.id.idiag_src, ends.theirs.address.data(), sizeof body.id.idiag_src);
    std::memcpy(body.id.idiag_dst, ends.ours.address.data(), sizeof body.id.idiag_dst);
    body.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
    body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    return ::send(netlink, &question, sizeof question, 0) == static_cast<ssize_t>(sizeof question);
}

End listed_end(const __be32 (&address)[4], __be16 port) {
    return plain({address[0], address[1], address[2], address[3]}, port);
}

// Without an exact match the kernel answers with a listening socket: that is not the peer.
std::optional<Listed> ask_netlink(int netlink, const Ends& ends) {
    if (!ask(netlink, ends)) return std::nullopt;
    alignas(nlmsghdr) std::array<char, 8192> bytes{};
    const auto size = ::recv(netlink, bytes.data(), bytes.size(), 0);
    constexpr auto whole = NLMSG_HDRLEN + sizeof(inet_diag_msg);
    if (size < static_cast<ssize_t>(whole)) return std::nullopt;
    nlmsghdr header{};
    inet_diag_msg found{};
    std::memcpy(&header, bytes.data(), sizeof header);
    std::memcpy(&found, bytes.data() + NLMSG_HDRLEN, sizeof found);
    if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY) return std::nullopt;
    const bool is_it = listed_end(found.id.idiag_src, found.id.idiag_sport) == ends.theirs &&
                       listed_end(found.id.idiag_dst, found.id.idiag_dport) == ends.ours;
    if (!is_it) return std::nullopt;
    return Listed{found.idiag_state, found.idiag_uid, found.idiag_inode};
}

// "0100007F:1CCD", each word of the address in the host's order.
std::optional<End> read_end(const char* text) {
    std::array<std::uint32_t, 4> address{};
    const auto* at = text;
    std::size_t words = 0;
    while (words < address.size()) {
        const auto read = std::from_chars(at, at + 8, address[words], 16);
        if (read.ec != std::errc() || read.ptr != at + 8) break;
        at = read.ptr;
        ++words;
    }
    std::uint16_t port = 0;
    const bool is_whole = (words == 1 || words == 4) && *at == ':';
    if (!is_whole || std::from_chars(at + 1, at + 5, port, 16).ec != std::errc())
        return std::nullopt;
    if (words == 1) return End{address, htons(port)};
    return plain(address, htons(port));
}

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

std::optional<Listed> look_up_in(const char* path, const Ends& ends) {
    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path, "re"));
    std::array<char, 512> line{};
    while (file && std::fgets(line.data(), line.size(), file.get())) {
        std::array<char, 64> theirs{};
        std::array<char, 64> ours{};
        unsigned state = 0;
        unsigned uid = 0;
        unsigned long long inode = 0;
        const int read =
            std::sscanf(line.data(), " %*u: %63s %63s %x %*x:%*x %*x:%*x %*x %u %*u %llu",
                        theirs.data(), ours.data(), &state, &uid, &inode);
        if (read != 5) continue;
        if (read_end(theirs.data()) != ends.theirs || read_end(ours.data()) != ends.ours) continue;
        return Listed{static_cast<std::uint8_t>(state), uid, inode};
    }
    return std::nullopt;
}

std::optional<Listed> look_up_in_proc(const Ends& ends) {
    if (const auto found = look_up_in("/proc/net/tcp", ends)) return found;
    return look_up_in("/proc/net/tcp6", ends);
}

std::uint32_t read_overflow_uid() {
    constexpr std::uint32_t usual = 65'534;
    const auto text =
        read_file(AT_FDCWD, "/proc/sys/kernel/overflowuid", overflow_text_max).value_or("");
    std::uint32_t uid = usual;
    std::from_chars(text.data(), text.data() + text.size(), uid);
    return uid;
}

// The netlink socket must not keep the server waiting, whatever the kernel does.
Fd open_netlink() {
    Fd netlink(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
    const timeval patience{.tv_sec = 0, .tv_usec = 100'000};
    if (netlink) ::setsockopt(netlink.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return netlink;
}

// Tried with a connection of our own: a kernel without that table answers as if nothing was there.
bool has_table(int netlink) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const Fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!listener || !client || ::bind(listener.get(), any, size) != 0 ||
        ::listen(listener.get(), 1) != 0 || ::getsockname(listener.get(), any, &size) != 0 ||
        ::connect(client.get(), any, size) != 0)
        return false;
    const Fd accepted(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const auto ends = ends_of(accepted.get());
    return ends && ask_netlink(netlink, *ends).has_value();
}

}  // namespace

SocketPeers::SocketPeers() : netlink_(open_netlink()), overflow_uid_(read_overflow_uid()) {
    if (netlink_ && !has_table(netlink_.get())) netlink_.reset();
}

bool SocketPeers::can_tell() const { return netlink_ || ::access("/proc/net/tcp", R_OK) == 0; }

std::optional<std::uint32_t> SocketPeers::account_of(int socket) {
    SocketFacts facts{.overflow_uid = overflow_uid_};
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) != 0) return std::nullopt;
    if (own.ss_family == AF_UNIX) {
        ucred peer{};
        size = sizeof peer;
        if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
        facts.door = SocketFacts::Door::unix_socket;
        facts.uid = peer.uid;
        return decide_peer(facts);
    }
    const auto ends = ends_of(socket);
    if (!ends) return std::nullopt;
    const auto listed = netlink_ ? ask_netlink(netlink_.get(), *ends) : look_up_in_proc(*ends);
    if (!listed) return std::nullopt;
    facts.found = true;
    facts.established = listed->state == tcp_is_established;
    facts.has_inode = listed->inode != 0;
    facts.uid = listed->uid;
    facts.own_end_established = is_established(socket);
    return decide_peer(facts);
}

std::string SocketPeers::name_of(std::uint32_t account) {
    const auto known = names_.find(account);
    if (known != names_.end()) return known->second;
    if (names_.size() >= names_max) names_.clear();
    return names_[account] = user_name(account);
}

}  // namespace perdure
