// ShimLink: the worker's side of the talk with one shim, on the loop. It says what the shim says,
// and when the shim is gone. A shim of an earlier worker is looked for until it answers or its lock
// is free; what is said to it meanwhile waits.
// Handlers hold the link itself; close() ends them. Nobody is told anything after close().
#pragma once

#include <sys/types.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/job/job.h"
#include "ports/task.h"
#include "processes/disk/state_folder.h"
#include "processes/spawn.h"
#include "shim/format/records.h"

namespace perdure {

class ShimLink;

class ShimLinkOwner {
public:
    virtual ~ShimLinkOwner() = default;
    virtual void on_record(ShimLink& link, const Record& record) = 0;
    // Its process has ended, or its lock is free. Said once, after everything it has said.
    virtual void on_gone(ShimLink& link) = 0;
};

class ShimLink : public std::enable_shared_from_this<ShimLink> {
public:
    ShimLink(Executor executor, std::shared_ptr<StateFolder> folder, AttemptKey attempt,
             ShimLinkOwner& owner);

    void attach(ShimEnds ends);
    // Finds the shim that holds the attempt's lock.
    void connect();
    void close();
    // Nobody listens any more; it is only reaped when it ends.
    void let_go();

    void send(std::string_view name, std::string_view bytes);
    // Left out if there is something on the way already: the next one says more.
    void renew(std::string_view bytes);
    void kill_hard();

    AttemptKey attempt() const { return attempt_; }
    bool gone() const { return gone_; }

private:
    using Descriptor = boost::asio::posix::basic_stream_descriptor<Executor>;
    using Timer = boost::asio::steady_timer::rebind_executor<Executor>::other;

    void wait_for_words();
    void wait_for_death();
    void wait_for_room();
    bool read_words();
    void write_out();
    void end();

    std::shared_ptr<StateFolder> folder_;
    AttemptKey attempt_;
    ShimLinkOwner* owner_;
    Descriptor socket_;
    Descriptor pidfd_;
    Timer retry_;
    pid_t pid_ = 0;
    std::string in_;
    std::string out_;
    bool waits_for_room_ = false;
    bool gone_ = false;
};

}  // namespace perdure
