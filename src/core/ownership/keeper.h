// Keeper election: one server does the singleton duties. The role is a fenced lease in the store:
// its epoch goes with every write that the keeper makes in that role.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/id.h"
#include "core/ownership/service_time.h"

namespace perdure {

struct KeeperRole {
    ServerId holder;
    std::uint64_t epoch = 0;
    ServiceTime deadline;

    friend bool operator==(const KeeperRole&, const KeeperRole&) = default;
};

struct KeeperFacts {
    KeeperRole role;
    ServerId me;
    ServiceTick clock;
};
struct KeeperDecision {
    enum class Kind { wait, take, renew } kind = Kind::wait;
    KeeperRole next;  // written WHERE epoch = role.epoch AND holder = role.holder
    std::string_view rule;
};
KeeperDecision decide_keeper(const KeeperFacts& facts, const Timing& timing);

}  // namespace perdure
