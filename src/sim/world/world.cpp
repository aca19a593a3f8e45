#include "sim/world/world.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <utility>

#include "base/assert.h"

namespace perdure::sim {

World::World(std::uint64_t seed)
    : context_(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE), rng_(seed), ties_(rng_.split()) {
    lives_.push_back(LifeState::running);
}

World::~World() {
    for (std::uint32_t life = 0; life < lives_.size(); ++life) end_life(Life{life});
}

Life World::new_life() {
    lives_.push_back(LifeState::running);
    return Life{static_cast<std::uint32_t>(lives_.size() - 1)};
}

void World::end_life(Life life) {
    lives_[life.value] = LifeState::ended;
    kept_back_.erase(life);
    // Destroying a coroutine may park or free others: never hold a reference into slots_ here.
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (!slots_[i].suspended || slots_[i].life != life) continue;
        auto doomed = std::exchange(slots_[i].suspended, std::nullopt);
        ++slots_[i].generation;
        free_slots_.push_back(static_cast<std::uint32_t>(i));
        doomed.reset();
    }
}

void World::pause(Life life) {
    if (lives_[life.value] == LifeState::running) lives_[life.value] = LifeState::paused;
}

void World::resume(Life life) {
    if (lives_[life.value] != LifeState::paused) return;
    lives_[life.value] = LifeState::running;
    auto events = std::move(kept_back_[life]);
    kept_back_.erase(life);
    for (auto& event : events) {
        event.at = now_;  // their order among each other stays
        queue_.push(std::move(event));
    }
}

void World::push(Event event) {
    event.tie = ties_.next();
    event.sequence = ++sequence_;
    if (event.at < now_) event.at = now_;
    queue_.push(std::move(event));
}

void World::at(TrueTime when, Life life, std::function<void()> action) {
    push({.at = when, .life = life, .ticket = std::nullopt, .action = std::move(action)});
}

Ticket World::park(Life life, Suspended suspended) {
    PERDURE_ASSERT(alive(life));
    if (free_slots_.empty()) {
        free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
        slots_.emplace_back();
    }
    const auto index = free_slots_.back();
    free_slots_.pop_back();
    auto& slot = slots_[index];
    slot.life = life;
    slot.suspended.emplace(std::move(suspended));
    return {index, slot.generation};
}

void World::wake_at(TrueTime when, Ticket ticket) {
    const auto& slot = slots_[ticket.slot];
    if (slot.generation != ticket.generation) return;
    push({.at = when, .life = slot.life, .ticket = ticket, .action = {}});
}

Task<void> World::sleep(Life life, Duration wait) {
    co_await suspend([this, life, wait](Suspended me) {
        const auto ticket = park(life, std::move(me));
        wake_at(now_ + wait, ticket);
    });
}

void World::spawn(Task<void> task) {
    boost::asio::co_spawn(context_, std::move(task),
                          [](std::exception_ptr failure) { PERDURE_ASSERT(failure == nullptr); });
}

void World::poll() {
    if (context_.stopped()) context_.restart();
    context_.poll();
}

void World::run(TrueTime until) {
    poll();
    stopped_ = false;
    while (!stopped_ && !queue_.empty() && queue_.top().at <= until) {
        auto event = std::move(const_cast<Event&>(queue_.top()));
        queue_.pop();
        const auto state = lives_[event.life.value];
        if (state == LifeState::ended) continue;
        PERDURE_ASSERT(event.at >= now_);
        now_ = event.at;
        if (state == LifeState::paused) {
            kept_back_[event.life].push_back(std::move(event));
            continue;
        }
        fire(event);
    }
    if (!stopped_ && now_ < until) now_ = until;
}

void World::fire(Event& event) {
    ++events_;
    mix(static_cast<std::uint64_t>(event.at.us));
    mix(event.life.value);
    if (event.ticket) {
        auto& slot = slots_[event.ticket->slot];
        if (slot.generation != event.ticket->generation) return;
        auto suspended = std::move(*slot.suspended);
        slot.suspended.reset();
        ++slot.generation;
        free_slots_.push_back(event.ticket->slot);
        suspended.resume_here();
    } else {
        event.action();
    }
    poll();
    if (observer_) observer_();
}

void World::trace(std::string line) {
    if (trace_max_ == 0) return;
    if (trace_.size() >= trace_max_) trace_.pop_front();
    trace_.push_back(fmt::format("{:>11.6f}  {}", static_cast<double>(now_.us) / 1e6, line));
}

}  // namespace perdure::sim
