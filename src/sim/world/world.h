// World: virtual time, and everything that waits for it. One thread, one event at a time; which of
// two simultaneous events goes first is drawn from the seed. Same seed, same trace.
//
// A Life is one run of one process. Ending a life destroys every coroutine that it has suspended:
// that is `kill -9`. Pausing a life keeps its events back: that is SIGSTOP.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "base/time.h"
#include "ports/task.h"
#include "sim/world/rng.h"

namespace perdure::sim {

// True time of the simulation, since its start. No simulated process can read it.
using TrueTime = Instant<struct TrueClock>;

struct Life {
    std::uint32_t value = 0;  // zero: the world itself, never ends
    friend constexpr auto operator<=>(Life, Life) = default;
};

// A suspended coroutine that the world keeps.
struct Ticket {
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
};

class World {
public:
    explicit World(std::uint64_t seed);
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    TrueTime now() const { return now_; }
    Executor executor() { return context_.get_executor(); }
    Rng split_rng() { return rng_.split(); }

    Life new_life();
    void end_life(Life life);
    bool alive(Life life) const { return lives_[life.value] != LifeState::ended; }
    void pause(Life life);
    void resume(Life life);

    void at(TrueTime when, Life life, std::function<void()> action);
    void after(Duration wait, Life life, std::function<void()> action) {
        at(now_ + wait, life, std::move(action));
    }

    // Keeps the coroutine until wake(), or destroys it with its life.
    Ticket park(Life life, Suspended suspended);
    // Wakes it at `when`; nothing happens if it was woken or destroyed before.
    void wake_at(TrueTime when, Ticket ticket);
    void wake(Ticket ticket) { wake_at(now_, ticket); }
    Task<void> sleep(Life life, Duration wait);

    void spawn(Task<void> task);
    // Runs whatever can run without the passing of time.
    void run_ready() { poll(); }

    // Runs events until `until`, or until stop().
    void run(TrueTime until);
    void stop() { stopped_ = true; }
    // Called after each event.
    void on_event(std::function<void()> observer) { observer_ = std::move(observer); }

    void trace(std::string line);
    void keep_trace(std::size_t lines) { trace_max_ = lines; }
    bool tracing() const { return trace_max_ > 0; }
    const std::deque<std::string>& trace_lines() const { return trace_; }
    std::uint64_t trace_hash() const { return hash_; }
    std::uint64_t events() const { return events_; }

private:
    enum class LifeState : std::uint8_t { running, paused, ended };
    struct Event {
        TrueTime at;
        std::uint64_t tie = 0;  // drawn: the order of simultaneous events
        std::uint64_t sequence = 0;
        Life life;
        std::optional<Ticket> ticket;
        std::function<void()> action;
        bool operator>(const Event& o) const {
            if (at != o.at) return at > o.at;
            if (tie != o.tie) return tie > o.tie;
            return sequence > o.sequence;
        }
    };
    struct Slot {
        std::uint32_t generation = 0;
        Life life;
        std::optional<Suspended> suspended;
    };

    void push(Event event);
    void fire(Event& event);
    void poll();
    void mix(std::uint64_t value) { hash_ = (hash_ ^ value) * 0x100000001b3ULL; }

    boost::asio::io_context context_;
    Rng rng_;
    Rng ties_;
    TrueTime now_;
    std::uint64_t sequence_ = 0;
    std::uint64_t events_ = 0;
    std::uint64_t hash_ = 0xcbf29ce484222325ULL;
    bool stopped_ = false;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
    std::vector<LifeState> lives_;
    std::map<Life, std::vector<Event>> kept_back_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_slots_;
    std::function<void()> observer_;
    std::size_t trace_max_ = 0;
    std::deque<std::string> trace_;
};

}  // namespace perdure::sim
