#include "platform/job_socket_client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "platform/system_time.h"

namespace perdure {
namespace {

constexpr std::size_t answer_max = std::size_t{4} << 20;  // that of a call has a body

struct Descriptor {
    int number = -1;

    explicit Descriptor(int n) : number(n) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number >= 0) ::close(number);
    }
};

bool connect_to(int socket, const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return false;
    std::memcpy(address.sun_path, path.data(), path.size());
    return ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// A path that does not fit into an address is reached through its directory.
bool connect_to_any_path(int socket, const std::string& path) {
    if (path.size() < sizeof(sockaddr_un::sun_path)) return connect_to(socket, path);
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return false;
    const Descriptor folder(::open(path.substr(0, slash).c_str(), O_PATH | O_CLOEXEC));
    if (folder.number < 0) return false;
    return connect_to(socket, fmt::format("/proc/self/fd/{}{}", folder.number, path.substr(slash)));
}

bool send_all(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

Error no_answer(std::string_view why) {
    return error(Errc::outcome_unknown, fmt::format("the job's socket gave no answer: {}", why));
}

Result<std::string> read_line(int socket, Duration patience) {
    const auto until = boot_now() + patience;
    std::string line;
    while (line.size() < answer_max) {
        const auto left = until - boot_now();
        pollfd source{socket, POLLIN, 0};
        if (left <= Duration{}) return no_answer("it took too long");
        const auto ready = ::poll(&source, 1, static_cast<int>(left.us / 1000 + 1));
        if (ready <= 0) continue;
        std::array<char, 16 * 1024> bytes{};
        const auto count = ::recv(socket, bytes.data(), bytes.size(), 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return no_answer("the connection broke");
        line.append(bytes.data(), static_cast<std::size_t>(count));
        if (const auto end = line.find('\n'); end != std::string::npos) return line.substr(0, end);
    }
    return no_answer("it is too long");
}

}  // namespace

Result<std::string> ask_job_socket(const std::string& path, const std::string& request,
                                   Duration patience) {
    const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (socket.number < 0 || !connect_to_any_path(socket.number, path))
        return error(Errc::unavailable,
                     fmt::format("the job's socket {} cannot be reached: {}; this works inside a "
                                 "running job only",
                                 path, std::strerror(errno)));
    // An answer may come before all is sent: the request was refused. It is read all the same.
    const bool sent = send_all(socket.number, request);
    auto answer = read_line(socket.number, patience);
    if (!sent && !answer) return no_answer("the connection broke");
    return answer;
}

}  // namespace perdure
