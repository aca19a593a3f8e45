#include "store/postgres/testing/relay.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace perdure::store::postgres {
namespace {

constexpr const char* socket_name = "/.s.PGSQL.5432";
constexpr int look_ms = 20;

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

bool is_readable(int socket, int ms) {
    pollfd one{socket, POLLIN, 0};
    return ::poll(&one, 1, ms) > 0;
}

}  // namespace

Relay::Relay(std::string to_folder) : to_(std::move(to_folder)) {
    auto path = (std::filesystem::temp_directory_path() / "perdure-relay-XXXXXX").string();
    PERDURE_ASSERT(mkdtemp(path.data()) != nullptr);
    folder_ = path;
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto address = address_of(folder_);
    PERDURE_ASSERT(::bind(listener_, reinterpret_cast<const sockaddr*>(&address),
                          sizeof address) == 0);
    PERDURE_ASSERT(::listen(listener_, 16) == 0);
    thread_ = std::thread([this] { serve(); });
}

Relay::~Relay() {
    stopping_ = true;
    thread_.join();
    ::close(listener_);
    std::filesystem::remove_all(folder_);
}

void Relay::serve() {
    std::vector<std::thread> clients;
    while (!stopping_) {
        if (!is_readable(listener_, look_ms)) continue;
        const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (client >= 0) clients.emplace_back([this, client] { pass_on(client); });
    }
    for (auto& client : clients) client.join();
}

void Relay::pass_on(int client) {
    const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto address = address_of(to_);
    bool goes_on =
        ::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    std::array<char, 65'536> bytes{};
    bool loses = false;
    while (goes_on && !stopping_) {
        std::array<pollfd, 2> both = {pollfd{client, POLLIN, 0}, pollfd{server, POLLIN, 0}};
        if (::poll(both.data(), both.size(), look_ms) <= 0) continue;
        for (const auto& [from, asked, ready] : both) {
            if (ready == 0 || !goes_on) continue;
            const auto got = ::read(from, bytes.data(), bytes.size());
            const std::string_view content(bytes.data(),
                                           got > 0 ? static_cast<std::size_t>(got) : 0);
            const bool is_asked = from == client;
            if (is_asked && content.find("COMMIT") != content.npos) loses = loses_commit_.exchange(false);
            // The answer to the whole pipeline comes when it is committed.
            const bool is_commit = !is_asked && content.find("COMMIT") != content.npos;
            if (loses && is_commit) has_lost_ = true;
            goes_on = got > 0 && !(loses && is_commit) && send_all(is_asked ? server : client, content);
        }
    }
    ::close(client);
    ::close(server);
}

}  // namespace perdure::store::postgres
