// SimNetwork: calls and streams between nodes, with delay, loss, duplication, reordering, one-way
// cuts and resets. A call that is not answered in time fails; whether the other side acted is not
// known to the caller. A stream keeps its order and loses nothing until it breaks.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/result.h"
#include "ports/task.h"
#include "sim/faults.h"
#include "sim/world.h"

namespace perdure::sim {

// An address: servers, then hosts of workers, then clients.
struct Node {
    std::uint32_t value = 0;
    friend constexpr auto operator<=>(Node, Node) = default;
};

class SimNetwork {
public:
    SimNetwork(World& world, const Plan& plan);

    void cut(Node from, Node to) { cuts_.insert({from, to}); }
    void heal(Node from, Node to) { cuts_.erase({from, to}); }
    void heal_all() { cuts_.clear(); }
    bool is_cut(Node from, Node to) const { return cuts_.contains({from, to}); }
    void set_faults(bool on) { faults_on_ = on; }

    Duration delay();
    bool loses();
    bool duplicates();
    std::uint64_t faults() const { return faults_; }

    // Calls `serve` at the other side; it answers through the given function, perhaps never.
    // Served twice if the message is duplicated.
    template <class Reply>
    struct Call {
        Life caller;
        Node from;
        Node to;
        Duration timeout;
        using Answer = std::function<void(Result<Reply>)>;
        std::function<void(Answer)> serve;
        bool once = false;  // over a connection that cannot duplicate
    };
    template <class Reply>
    Task<Result<Reply>> call(Call<Reply> call);

private:
    template <class Reply>
    struct Pending {
        std::optional<Result<Reply>> answer;
        std::optional<Ticket> waiting;
    };
    template <class Reply>
    void deliver(Node from, Node to, std::shared_ptr<Pending<Reply>> pending,
                 std::function<void(typename Call<Reply>::Answer)> serve);

    World& world_;
    const Plan& plan_;
    Rng rng_;
    std::set<std::pair<Node, Node>> cuts_;
    std::uint64_t faults_ = 0;
    bool faults_on_ = true;
};

template <class Reply>
Task<Result<Reply>> SimNetwork::call(Call<Reply> call) {
    auto pending = std::make_shared<Pending<Reply>>();
    const int copies = !call.once && duplicates() ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
        if (is_cut(call.from, call.to) || loses()) continue;
        auto serve = call.serve;
        const auto from = call.from;
        const auto to = call.to;
        world_.after(delay() * (i + 1), Life{}, [this, from, to, pending, serve] {
            deliver<Reply>(from, to, pending, serve);
        });
    }
    co_await suspend([this, mine = pending.get(), life = call.caller,
                      timeout = call.timeout](Suspended me) {
        mine->waiting = world_.park(life, std::move(me));
        world_.wake_at(world_.now() + timeout, *mine->waiting);
    });
    pending->waiting.reset();
    if (pending->answer) co_return std::move(*pending->answer);
    co_return error(Errc::unavailable, "no answer in time");
}

template <class Reply>
void SimNetwork::deliver(Node from, Node to, std::shared_ptr<Pending<Reply>> pending,
                         std::function<void(typename Call<Reply>::Answer)> serve) {
    serve([this, from, to, pending](Result<Reply> reply) {
        if (is_cut(to, from) || loses()) return;
        world_.after(delay(), Life{}, [this, pending, reply = std::move(reply)] {
            if (pending->answer) return;  // a duplicate: the first answer counts
            pending->answer = reply;
            if (pending->waiting) world_.wake(*pending->waiting);
        });
    });
}

}  // namespace perdure::sim
