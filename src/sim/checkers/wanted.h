// Wanted: a setting that people change (a limit, a pause), as seen from outside: which of the
// values that were asked for may be in force now. What was never answered may come into force at
// any later time: a server that was paused may yet carry it out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace perdure::sim {

template <class Value>
class Wanted {
public:
    Wanted() = default;
    explicit Wanted(Value initial) { acknowledge(ask(initial)); }

    // It is sent now. Returns its number.
    std::size_t ask(Value value) {
        asked_.push_back({.value = value, .asked = ++steps_});
        return asked_.size() - 1;
    }
    // It was done, and overtakes all that was known to be done when it was asked for.
    void acknowledge(std::size_t number) {
        auto& mine = asked_[number];
        mine.acknowledged = ++steps_;
        std::erase_if(possible_, [&](std::size_t other) {
            return asked_[other].acknowledged && *asked_[other].acknowledged < mine.asked;
        });
        possible_.push_back(number);
    }
    // It was not done, and never will be.
    void refuse(std::size_t number) { asked_[number].refused = true; }

    std::vector<Value> possible() const {
        std::vector<Value> values;
        for (std::size_t i = 0; i < asked_.size(); ++i) {
            const bool open = !asked_[i].acknowledged && !asked_[i].refused;
            const bool done = std::find(possible_.begin(), possible_.end(), i) != possible_.end();
            if (open || done) values.push_back(asked_[i].value);
        }
        return values;
    }

private:
    struct Asked {
        Value value;
        std::uint64_t asked = 0;
        std::optional<std::uint64_t> acknowledged = std::nullopt;
        bool refused = false;
    };
    std::vector<Asked> asked_;
    std::vector<std::size_t> possible_;  // of the acknowledged ones
    std::uint64_t steps_ = 0;
};

}  // namespace perdure::sim
