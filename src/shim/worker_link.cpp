#include "shim/worker_link.h"

#include <sys/socket.h>

#include <array>

#include "shim/format/attempt_files.h"
#include "shim/listener.h"

namespace perdure {
namespace {

// Only our own user, or root, may order a shim about.
bool is_trusted(const Fd& peer) {
    ucred who{};
    socklen_t size = sizeof who;
    if (::getsockopt(peer.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return false;
    return who.uid == 0 || who.uid == ::geteuid();
}

}  // namespace

void WorkerLink::watch(std::vector<pollfd>& into) const {
    if (peer_)
        into.push_back(
            {peer_.get(), static_cast<short>(out_.empty() ? POLLIN : POLLIN | POLLOUT), 0});
    if (listener_) into.push_back({listener_.get(), POLLIN, 0});
}

void WorkerLink::serve(const pollfd& ready, WorkerOrders& orders) {
    if (listener_ && ready.fd == listener_.get()) return accept_worker(orders);
    if (!peer_ || ready.fd != peer_.get()) return;
    if (ready.revents & POLLOUT) write_out();
    if (peer_ && (ready.revents & (POLLIN | POLLHUP | POLLERR))) read_from(orders);
}

void WorkerLink::listen_if_alone() {
    if (!peer_ && !listener_) listen_at(attempt_files::shim_socket, listener_);
}

void WorkerLink::accept_worker(WorkerOrders& orders) {
    Fd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!peer || !is_trusted(peer)) return;
    lose_peer();
    peer_ = std::move(peer);
    orders.on_worker();
}

void WorkerLink::read_from(WorkerOrders& orders) {
    std::array<char, 4096> block;
    const auto got = ::recv(peer_.get(), block.data(), block.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return lose_peer();
    in_.append(block.data(), static_cast<std::size_t>(got));
    const std::string text = std::exchange(in_, {});
    RecordReader reader(text);
    while (const auto record = reader.next()) orders.on_record(*record);
    if (reader.corrupt()) return lose_peer();
    in_ = text.substr(reader.consumed());
}

void WorkerLink::send(std::string_view name, std::string_view bytes) {
    if (!peer_) return;
    append_record(out_, name, bytes);
    write_out();
}

void WorkerLink::write_out() {
    while (peer_ && !out_.empty()) {
        const auto done =
            ::send(peer_.get(), out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0 && errno == EAGAIN) return;
        if (done < 0) return lose_peer();
        out_.erase(0, static_cast<std::size_t>(done));
    }
}

void WorkerLink::flush(int wait_ms) {
    write_out();
    while (peer_ && !out_.empty()) {
        pollfd ready{peer_.get(), POLLOUT, 0};
        if (::poll(&ready, 1, wait_ms) <= 0) return;
        write_out();
    }
}

void WorkerLink::lose_peer() {
    peer_.reset();
    in_.clear();
    out_.clear();
    listen_if_alone();
}

}  // namespace perdure
