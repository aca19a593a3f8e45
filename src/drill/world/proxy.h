// Proxy: a piece of network between one worker and its server, which can be cut. While it is cut
// nothing gets through and nobody is told, as with a pulled cable; what comes then is not lost but
// stuck, and connections from before are dead once it is mended.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <thread>

#include "base/result.h"
#include "shim/format/fd.h"

namespace perdure::drill {

class Proxy {
public:
    // Listens on a free port of 127.0.0.1 and leads to another one.
    static Result<std::unique_ptr<Proxy>> start(std::uint16_t to);
    ~Proxy();
    Proxy(const Proxy&) = delete;
    Proxy& operator=(const Proxy&) = delete;

    std::uint16_t port() const { return port_; }
    void cut() { cut_ = true; }
    void mend() { cut_ = false; }

private:
    struct Pair {
        Fd near, far;
        bool closed = false;
    };

    Proxy(Fd listener, std::uint16_t port, std::uint16_t to);
    void run();
    void accept_one();
    void serve();
    static bool pass_on(int from, int to);

    Fd listener_;
    std::uint16_t port_;
    std::uint16_t to_;
    std::atomic<bool> cut_ = false;
    std::atomic<bool> ends_ = false;
    std::list<Pair> pairs_;
    std::thread thread_;
};

}  // namespace perdure::drill
