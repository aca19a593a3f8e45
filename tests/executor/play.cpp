#include "tests/executor/play.h"

#include <fmt/format.h>

#include <utility>

#include "base/assert.h"

namespace perdure::executor {
namespace {

constexpr auto step = milliseconds(2);
constexpr ServerId server{1};

// Service time advances by exactly one step at each tick, whatever the real time was. What is
// measured in real time, and could differ between machines, is out of reach.
Timing timing_of_the_play() {
    Timing timing;
    timing.tick = timing.idle_tick = timing.first_tick = timing.tick_advance_max = step;
    timing.grace = {};
    timing.outage = timing.submit_deadline = hours(1'000);
    timing.lease = step * 15;
    timing.suspect = step * 14;
    timing.confirm = step * 8;
    timing.hold = step * 5;
    timing.kept_holders = step * 4;
    timing.prefer_another = step * 3;
    timing.keeper = step * 3;
    return timing;
}

GroupCommit::Fatal never() {
    return [](const std::string&) { PERDURE_ASSERT(!"a healthy store was called unhealthy"); };
}

Task<void> yield(Executor executor) {
    co_await suspend([executor](Suspended me) { me.resume_later(executor); });
}

}  // namespace

Play::Play(Stage& stage, Script script, std::size_t rounds)
    : stage_(stage),
      script_(std::move(script)),
      rounds_(rounds),
      memory_(timing_of_the_play()),
      store_(memory_, trace_),
      commits_(store_, stage.clock(),
               {.timing = timing_of_the_play(), .leading_ticks = GroupCommit::LeadingTicks::never},
               never(), Log()),
      sweeper_(store_, stage.clock(), commits_, Log()),
      ticker_(store_, stage.clock(), commits_, sweeper_, server, timing_of_the_play(), Log()),
      dispatcher_(stage.clock(), commits_, Log()),
      jobs_(store_, stage.clock(), commits_, dispatcher_, timing_of_the_play(), Log()),
      sessions_(store_, commits_, dispatcher_, timing_of_the_play(), never(), Log()),
      gate_(stage.clock().executor()) {
    commits_.on_activity(ticker_.alarm());
    store_.on_round([this](std::size_t round) { return prompt(round); });
}

std::vector<std::string> Play::run() {
    gate_.spawn("open", open());
    stage_.run();
    PERDURE_ASSERT(gate_.empty());
    return trace_.lines();
}

Task<void> Play::open() {
    co_await commits_.open(server, stop_);
    gate_.spawn("group commit", commits_.run(stop_));
    gate_.spawn("tick and sweep", ticker_.run(stop_));
}

// Returns when every act of the round has been asked for.
Task<void> Play::prompt(std::size_t round) {
    if (round == rounds_) stop_.request();
    const auto found = script_.find(round);
    if (found == script_.end()) co_return;
    if (found->second.fault) store_.order(*found->second.fault);
    const auto& acts = found->second.acts;
    begun_ = 0;
    for (std::size_t i = 0; i < acts.size(); ++i) {
        const auto number = round * 100 + i;
        gate_.spawn(fmt::format("act {}", number), perform(acts[i], number));
    }
    while (begun_ < acts.size()) co_await yield(stage_.clock().executor());
}

Task<void> Play::perform(Act act, std::size_t number) {
    ++begun_;
    const auto answer = co_await act(*this);
    trace_.add(fmt::format("act {}: {}", number, answer));
}

}  // namespace perdure::executor
