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
#include <string>
#include <utility>

#include "base/result.h"
#include "ports/task.h"
#include "sim/plan.h"
#include "sim/world/tap.h"
#include "sim/world/world.h"

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
    void set_tap(Tap* tap) { tap_ = tap; }
    Tap* tap() { return tap_; }

    Duration delay();
    // How much later the second copy of a message comes.
    Duration late() { return rng_.skewed(milliseconds(1), seconds(4)); }
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
        bool once = false;   // over a connection that cannot duplicate
        std::string what{};  // for the tap
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
    void deliver(const Call<Reply>& call, std::shared_ptr<Pending<Reply>> pending);

    World& world_;
    const Plan& plan_;
    Rng rng_;
    std::set<std::pair<Node, Node>> cuts_;
    std::uint64_t faults_ = 0;
    bool faults_on_ = true;
    Tap* tap_ = nullptr;
};

template <class Reply>
Task<Result<Reply>> SimNetwork::call(Call<Reply> call) {
    auto pending = std::make_shared<Pending<Reply>>();
    const int copies = !call.once && duplicates() ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
        if (is_cut(call.from, call.to) || loses()) continue;
        const auto send = [this, call, pending, copy = i + 1] {
            world_.after(copy == 1 ? delay() : delay() + late(), Life{},
                         [this, call, pending] { deliver<Reply>(call, pending); });
        };
        using Leg = Message::Leg;
        const bool taken =
            tap_ && tap_->takes({Leg::request, call.what, call.from.value, call.to.value, send});
        if (!taken) send();
    }
    co_await suspend(
        [this, mine = pending.get(), life = call.caller, timeout = call.timeout](Suspended me) {
            mine->waiting = world_.park(life, std::move(me));
            world_.wake_at(world_.now() + timeout, *mine->waiting);
        });
    pending->waiting.reset();
    if (pending->answer) co_return std::move(*pending->answer);
    co_return error(Errc::unavailable, "no answer in time");
}

template <class Reply>
void SimNetwork::deliver(const Call<Reply>& call, std::shared_ptr<Pending<Reply>> pending) {
    call.serve(
        [this, from = call.from, to = call.to, what = call.what, pending](Result<Reply> reply) {
            if (is_cut(to, from) || loses()) return;
            const auto send = [this, pending, reply = std::move(reply)] {
                world_.after(delay(), Life{}, [this, pending, reply] {
                    if (pending->answer) return;  // a duplicate: the first answer counts
                    pending->answer = reply;
                    if (pending->waiting) world_.wake(*pending->waiting);
                });
            };
            using Leg = Message::Leg;
            const bool taken = tap_ && tap_->takes({Leg::answer, what, to.value, from.value, send});
            if (!taken) send();
        });
}

// A call that answers nothing, as one that can be told from no answer.
inline Task<Result<bool>> as_bool(Task<Result<void>> task) {
    auto done = co_await std::move(task);
    if (!done) co_return done.error();
    co_return true;
}

}  // namespace perdure::sim
