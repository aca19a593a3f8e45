// Fifty coroutines that wait for alarms and ring each other, on both executors.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ports/gate.h"
#include "tests/executor/stage.h"
#include "tests/executor/trace.h"

namespace perdure::executor {
namespace {

constexpr std::size_t ringers = 50;
constexpr std::size_t laps = 200;
constexpr auto very_long = hours(1'000);

using Lines = std::vector<std::string>;

std::string line(std::size_t who, const std::string& what) {
    return std::to_string(who) + " " + what;
}

// One of them runs at a time: whoever is rung writes a line and rings the next. So the trace has
// one order only, and every executor must give it.
class Baton {
public:
    explicit Baton(Stage& stage) : stage_(stage), gate_(stage.clock().executor()) {
        for (std::size_t i = 0; i < ringers; ++i) alarms_.push_back(stage.clock().make_alarm());
    }

    Lines run() {
        for (std::size_t i = 0; i < ringers; ++i) gate_.spawn(std::to_string(i), pass_on(i));
        alarms_[0]->ring();
        stage_.run();
        EXPECT_TRUE(gate_.empty()) << gate_.waiting_for().size() << " still wait";
        return std::move(lines_);
    }

private:
    Task<void> pass_on(std::size_t me) {
        while (steps_ < ringers * laps) {
            co_await alarms_[me]->wait(very_long);
            if (steps_ >= ringers * laps) break;
            ++steps_;
            // A fixed pattern that jumps about, rings itself now and then, and rings twice: a ring
            // before the wait must be remembered, and two must count as one.
            const auto next = (me * 31 + steps_ * 7 + 3) % ringers;
            lines_.push_back(line(me, "rings " + std::to_string(next)));
            alarms_[next]->ring();
            if (steps_ % 3 == 0) alarms_[next]->ring();
            if (steps_ % 11 == 0) co_await rest(me);
        }
        if (me + 1 < ringers) alarms_[me + 1]->ring();
        if (me > 0) alarms_[me - 1]->ring();
    }

    // Time passes, and nobody else can run meanwhile but the one who was rung.
    Task<void> rest(std::size_t me) {
        auto nap = stage_.clock().make_alarm();
        co_await nap->wait(Duration{});
        naps_ += me;
    }

    Stage& stage_;
    std::vector<std::unique_ptr<Alarm>> alarms_;
    Lines lines_;
    std::size_t steps_ = 0;
    std::size_t naps_ = 0;
    Gate gate_;
};

// All of them run in each lap: everybody waits for the rings of two others. In which order they run
// within a lap is the executor's business, and the seed's; what each of them sees is not.
class Crowd {
public:
    explicit Crowd(Stage& stage)
        : stage_(stage), lines_(ringers), lap_(ringers, 0), gate_(stage.clock().executor()) {
        for (std::size_t i = 0; i < ringers; ++i) alarms_.push_back(stage.clock().make_alarm());
    }

    Lines run() {
        for (std::size_t i = 0; i < ringers; ++i) gate_.spawn(std::to_string(i), march(i));
        stage_.run();
        EXPECT_TRUE(gate_.empty()) << gate_.waiting_for().size() << " still wait";
        Lines all;
        for (auto& own : lines_) all.insert(all.end(), own.begin(), own.end());
        return all;
    }

private:
    static std::size_t left(std::size_t me) { return (me + ringers - 1) % ringers; }
    static std::size_t right(std::size_t me) { return (me + 1) % ringers; }

    Task<void> march(std::size_t me) {
        while (lap_[me] < laps) {
            ++lap_[me];
            lines_[me].push_back(line(me, "lap " + std::to_string(lap_[me])));
            alarms_[left(me)]->ring();
            alarms_[right(me)]->ring();
            // No wake-up may be lost, or somebody waits for a thousand hours.
            while (lap_[left(me)] < lap_[me] || lap_[right(me)] < lap_[me])
                co_await alarms_[me]->wait(very_long);
        }
    }

    Stage& stage_;
    std::vector<std::unique_ptr<Alarm>> alarms_;
    std::vector<Lines> lines_;
    std::vector<std::size_t> lap_;
    Gate gate_;
};

template <class Play>
Lines on_asio() {
    AsioStage stage;
    return Play(stage).run();
}

template <class Play>
Lines on_world(std::uint64_t seed) {
    SimStage stage(seed);
    return Play(stage).run();
}

template <class Play>
void expect_one_trace(std::size_t lines) {
    const auto expected = on_world<Play>(1);
    EXPECT_EQ(expected.size(), lines);
    for (int i = 0; i < 5; ++i) ASSERT_EQ(difference(on_asio<Play>(), expected), "");
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        ASSERT_EQ(difference(on_world<Play>(seed), expected), "") << "seed " << seed;
}

TEST(Alarms, a_baton_takes_the_same_way_on_both_executors) {
    expect_one_trace<Baton>(ringers * laps);
}

TEST(Alarms, a_crowd_loses_no_ring_on_either_executor) { expect_one_trace<Crowd>(ringers * laps); }

}  // namespace
}  // namespace perdure::executor
