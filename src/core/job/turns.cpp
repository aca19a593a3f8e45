#include "core/job/turns.h"

#include <algorithm>

#include "base/assert.h"

namespace perdure {

void Turns::add(std::int64_t tag) {
    ++tags_[tag];
    ++size_;
}

void Turns::remove(std::int64_t tag) {
    const auto found = tags_.find(tag);
    PERDURE_ASSERT(found != tags_.end());
    --size_;
    if (--found->second == 0) tags_.erase(found);
}

void Turns::enter(Turn& line) {
    PERDURE_ASSERT(!line.waits);
    line.waits = true;
    if (line.rank.tag < turn_) {
        line.rank = {.tag = turn_, .served = 0};
        line.claims = 0;
    }
    add(line.rank.tag);
}

void Turns::leave(Turn& line) {
    PERDURE_ASSERT(line.waits);
    line.waits = false;
    remove(line.rank.tag);
}

void Turns::charge(Turn& line) {
    PERDURE_ASSERT(line.weight >= 1 && line.weight <= weight_max);
    if (!tags_.empty()) turn_ = tags_.begin()->first;
    const std::int64_t weight = line.weight;
    const std::int64_t done = line.claims;
    const auto step = one * (done + 1) / weight - one * done / weight;
    const auto tag = std::min(std::max(line.rank.tag, turn_) + step, turn_ + one);
    if (line.waits) {
        remove(line.rank.tag);
        add(tag);
    }
    line.rank.tag = tag;
    line.claims = (line.claims + 1) % line.weight;
    ++served_;
    if (line.claims == 0) line.rank.served = served_;
}

}  // namespace perdure
