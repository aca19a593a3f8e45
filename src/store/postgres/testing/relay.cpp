#include "store/postgres/testing/relay.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace perdure::store::postgres {
namespace {

constexpr const char* socket_name = "/.s.PGSQL.5432";

sockaddr_un address_of(const std::string& folder) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto path = folder + socket_name;
    PERDURE_ASSERT(path.size() < sizeof address.sun_path);
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

bool send_all(int to, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

struct Pair {
    int client = -1;
    int server = -1;
    bool loses = false;  // the answer to the COMMIT that it has sent
};

class Server {
public:
    Server(int listener, std::string to, Relay::Told& told)
        : listener_(listener), to_(std::move(to)), told_(told) {}

    [[noreturn]] void serve() {
        for (;;) {
            std::vector<pollfd> sockets = {{listener_, POLLIN, 0}};
            for (const auto& pair : pairs_) {
                sockets.push_back({pair.client, POLLIN, 0});
                sockets.push_back({pair.server, POLLIN, 0});
            }
            if (::poll(sockets.data(), sockets.size(), -1) <= 0) continue;
            for (std::size_t i = pairs_.size(); i-- > 0;) {
                const bool is_asked = sockets[1 + 2 * i].revents != 0;
                const bool is_answered = sockets[2 + 2 * i].revents != 0;
                const bool goes_on = (!is_asked || pass_question(pairs_[i])) &&
                                     (!is_answered || pass_answer(pairs_[i]));
                if (!goes_on) hang_up(i);
            }
            if (sockets.front().revents != 0) accept();
        }
    }

private:
    void accept() {
        const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const auto address = address_of(to_);
        if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
            pairs_.push_back({client, server});
            return;
        }
        ::close(client);
        ::close(server);
    }

    void hang_up(std::size_t pair) {
        ::close(pairs_[pair].client);
        ::close(pairs_[pair].server);
        pairs_.erase(pairs_.begin() + static_cast<std::ptrdiff_t>(pair));
    }

    std::string_view read(int from) {
        const auto got = ::read(from, bytes_.data(), bytes_.size());
        return {bytes_.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
    }

    bool pass_question(Pair& pair) {
        const auto content = read(pair.client);
        if (content.find("COMMIT") != content.npos && told_.loses_commit.exchange(false))
            pair.loses = true;
        return !content.empty() && send_all(pair.server, content);
    }

    bool pass_answer(Pair& pair) {
        const auto content = read(pair.server);
        if (pair.loses && content.find("COMMIT") != content.npos) {
            told_.has_lost = true;
            return false;
        }
        return !content.empty() && send_all(pair.client, content);
    }

    int listener_;
    std::string to_;
    Relay::Told& told_;
    std::vector<Pair> pairs_;
    std::array<char, 65'536> bytes_{};
};

}  // namespace

Relay::Relay(const std::string& to_folder) {
    auto path = (std::filesystem::temp_directory_path() / "perdure-relay-XXXXXX").string();
    PERDURE_ASSERT(mkdtemp(path.data()) != nullptr);
    folder_ = path;
    const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto address = address_of(folder_);
    PERDURE_ASSERT(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
                   0);
    PERDURE_ASSERT(::listen(listener, 16) == 0);
    void* shared =
        ::mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    PERDURE_ASSERT(shared != MAP_FAILED);
    told_ = new (shared) Told;
    process_ = ::fork();
    PERDURE_ASSERT(process_ >= 0);
    if (process_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        Server(listener, to_folder, *told_).serve();
    }
    ::close(listener);
}

Relay::~Relay() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    ::munmap(told_, sizeof(Told));
    std::filesystem::remove_all(folder_);
}

}  // namespace perdure::store::postgres
