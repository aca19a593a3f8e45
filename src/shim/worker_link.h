// WorkerLink: the shim's side of the talk with its worker. It begins with the socket that the
// worker has left it. When that breaks the worker is gone, and the link listens in the attempt's
// directory for the next one. The newest connection counts.
// What was said to a worker that is gone is lost; what must not be is said again after greeting.
#pragma once

#include <poll.h>

#include <string>
#include <string_view>
#include <vector>

#include "shim/format/fd.h"
#include "shim/format/records.h"

namespace perdure {

// What the link brings. Views are good during the call.
class WorkerOrders {
public:
    virtual ~WorkerOrders() = default;
    virtual void on_worker() = 0;  // a new one is there
    virtual void on_record(const Record& record) = 0;
};

class WorkerLink {
public:
    explicit WorkerLink(Fd connected) : peer_(std::move(connected)) {}

    bool connected() const { return static_cast<bool>(peer_); }
    // True while it would listen and cannot: try again soon.
    bool deaf() const { return !peer_ && !listener_; }
    void watch(std::vector<pollfd>& into) const;
    void serve(const pollfd& ready, WorkerOrders& orders);
    void listen_if_alone();
    void send(std::string_view name, std::string_view bytes = {});
    // Waits at most so long until everything is on its way.
    void flush(int wait_ms);

private:
    void accept_worker(WorkerOrders& orders);
    void read_from(WorkerOrders& orders);
    void write_out();
    void lose_peer();

    Fd peer_;
    Fd listener_;
    std::string in_;
    std::string out_;
};

}  // namespace perdure
