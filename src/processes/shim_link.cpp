#include "processes/shim_link.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <boost/asio/error.hpp>

#include "processes/disk/attempt_directory.h"
#include "processes/disk/processes_without_shim.h"
#include "shim/tree.h"

namespace perdure {
namespace {

using boost::asio::posix::descriptor_base;
using boost::system::error_code;

constexpr auto retry_pause = std::chrono::milliseconds(20);

}  // namespace

ShimLink::ShimLink(Executor executor, std::shared_ptr<StateFolder> folder, AttemptKey attempt,
                   ShimLinkOwner& owner)
    : folder_(std::move(folder)),
      attempt_(attempt),
      owner_(&owner),
      socket_(executor),
      pidfd_(executor),
      retry_(executor) {}

void ShimLink::attach(ShimEnds ends) {
    pid_ = ends.pid;
    socket_.assign(ends.socket.release());
    pidfd_.assign(ends.pidfd.release());
    wait_for_words();
    wait_for_death();
    write_out();
}

void ShimLink::connect() {
    const auto name = directory_name(attempt_);
    auto ends = connect_shim(*folder_, name);
    if (ends) return attach(std::move(*ends));
    if (!is_locked(*folder_, name)) return end();
    retry_.expires_after(retry_pause);
    retry_.async_wait([self = shared_from_this()](const error_code& failed) {
        if (!failed && self->owner_) self->connect();
    });
}

void ShimLink::close() {
    owner_ = nullptr;
    error_code ignored;
    socket_.close(ignored);
    pidfd_.close(ignored);
    retry_.cancel();
}

void ShimLink::let_go() {
    owner_ = nullptr;
    error_code ignored;
    socket_.close(ignored);
    retry_.cancel();
}

void ShimLink::wait_for_words() {
    socket_.async_wait(descriptor_base::wait_read,
                       [self = shared_from_this()](const error_code& failed) {
                           if (failed || !self->owner_) return;
                           if (self->read_words() && self->owner_) self->wait_for_words();
                       });
}

void ShimLink::wait_for_death() {
    pidfd_.async_wait(descriptor_base::wait_read,
                      [self = shared_from_this()](const error_code& failed) {
                          if (!failed) self->end();
                      });
}

// False: there will be no more. Its owner may close us in the middle of it.
bool ShimLink::read_words() {
    thread_local std::array<char, 64 * 1024> block;
    const auto got = ::recv(socket_.native_handle(), block.data(), block.size(), MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    in_.append(block.data(), static_cast<std::size_t>(got));
    RecordReader reader(in_);
    while (owner_)
        if (const auto record = reader.next())
            owner_->on_record(*this, *record);
        else
            break;
    if (!owner_) return false;
    // A shim that cannot be understood is of no use to anybody.
    if (reader.corrupt()) kill_hard();
    in_.erase(0, reader.consumed());
    return !reader.corrupt();
}

void ShimLink::end() {
    if (gone_) return;
    while (owner_ && socket_.is_open()) {  // what it said before it went
        const auto before = in_.size();
        if (!read_words() || in_.size() == before) break;
    }
    if (pid_ != 0) {
        siginfo_t about{};
        // If it is another one's child, somebody else reaps it.
        ::waitid(P_PIDFD, static_cast<id_t>(pidfd_.native_handle()), &about, WEXITED | WNOHANG);
        folder_->forget_shim(pid_);
    }
    gone_ = true;
    auto* owner = owner_;
    const auto self = shared_from_this();
    close();
    if (owner) owner->on_gone(*this);
}

void ShimLink::send(std::string_view name, std::string_view bytes) {
    if (gone_) return;
    append_record(out_, name, bytes);
    write_out();
}

void ShimLink::renew(std::string_view bytes) {
    if (out_.empty()) send("renew", bytes);
}

void ShimLink::write_out() {
    while (socket_.is_open() && !out_.empty()) {
        const auto done =
            ::send(socket_.native_handle(), out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0 && errno == EAGAIN) return wait_for_room();
        if (done < 0) return out_.clear();  // it is going
        out_.erase(0, static_cast<std::size_t>(done));
    }
}

void ShimLink::wait_for_room() {
    if (std::exchange(waits_for_room_, true)) return;
    socket_.async_wait(descriptor_base::wait_write,
                       [self = shared_from_this()](const error_code& failed) {
                           self->waits_for_room_ = false;
                           if (!failed && self->owner_) self->write_out();
                       });
}

void ShimLink::kill_hard() {
    if (!pidfd_.is_open()) return kill_shim(*folder_, directory_name(attempt_));
    Fd copy(::fcntl(pidfd_.native_handle(), F_DUPFD_CLOEXEC, 0));
    send_signal(copy, SIGKILL);
}

}  // namespace perdure
