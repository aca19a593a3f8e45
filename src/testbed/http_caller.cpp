#include "testbed/http_caller.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <utility>

namespace perdure {
namespace {

constexpr std::size_t read_at_once = std::size_t{64} << 10;
constexpr std::string_view length_name = "\r\nContent-Length: ";
constexpr std::string_view head_end = "\r\n\r\n";

Error broken(const char* what) {
    return error(Errc::unavailable, fmt::format("{}: {}", what, std::strerror(errno)));
}

std::size_t number_at(std::string_view text, std::size_t at) {
    std::size_t number = 0;
    std::from_chars(text.data() + at, text.data() + text.size(), number);
    return number;
}

}  // namespace

std::string request_bytes(std::string_view method, std::string_view target, std::string_view body) {
    return fmt::format(
        "{} {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Content-Length: {}\r\n\r\n{}",
        method, target, body.size(), body);
}

Result<HttpCaller> HttpCaller::connect(std::uint16_t port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return broken("no socket");
    HttpCaller caller(socket);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return broken("the server cannot be reached");
    const int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return caller;
}

HttpCaller::HttpCaller(HttpCaller&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      in_(std::move(other.in_)),
      used_(other.used_),
      whole_(other.whole_),
      head_(other.head_) {}

HttpCaller::~HttpCaller() {
    if (socket_ >= 0) ::close(socket_);
}

void HttpCaller::set_patience(std::chrono::milliseconds patience) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience);
    const timeval limit{.tv_sec = seconds.count(),
                        .tv_usec = std::chrono::microseconds(patience - seconds).count()};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

Result<void> HttpCaller::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return broken("a request cannot be sent");
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
}

std::optional<HttpAnswer> HttpCaller::parse() {
    const std::string_view text(in_);
    if (whole_ == 0) {
        const auto end = text.find(head_end);
        if (end == std::string_view::npos) return std::nullopt;
        const auto length = text.substr(0, end).find(length_name);
        head_ = end + head_end.size();
        whole_ = head_;
        if (length != std::string_view::npos)
            whole_ += number_at(text, length + length_name.size());
    }
    if (text.size() < whole_) return std::nullopt;
    used_ = std::exchange(whole_, 0);
    constexpr std::size_t status_at = 9;  // after "HTTP/1.1 "
    return HttpAnswer{static_cast<unsigned>(number_at(text, status_at)),
                      text.substr(head_, used_ - head_)};
}

Result<std::string_view> HttpCaller::receive_raw() {
    in_.erase(0, std::exchange(used_, 0));
    static thread_local std::array<char, read_at_once> space;
    const auto count = ::recv(socket_, space.data(), space.size(), 0);
    if (count < 0 && errno != EINTR) return broken("an answer cannot be read");
    return std::string_view(space.data(), count < 0 ? 0 : static_cast<std::size_t>(count));
}

Result<std::optional<HttpAnswer>> HttpCaller::receive_some() {
    const auto bytes = receive_raw();
    if (!bytes) return bytes.error();
    if (bytes->empty()) return error(Errc::unavailable, "the server has closed the connection");
    in_.append(*bytes);
    return parse();
}

Result<HttpAnswer> HttpCaller::call(std::string_view bytes) {
    if (auto sent = send(bytes); !sent) return sent.error();
    for (;;) {
        const auto answer = receive_some();
        if (!answer) return answer.error();
        if (*answer) return **answer;
    }
}

}  // namespace perdure
