// Holders: who holds which key and which slot of which limit (C4). A copy of `key_holder`,
// `limit_holder` and `limit_max`; every change is written at once. There are as many rows as
// running jobs hold things, so that all of them are here.
#pragma once

#include <cstdint>
#include <map>

#include "base/id.h"
#include "core/claim.h"
#include "store/sqlite/db/statement.h"

namespace perdure::sqlite {

class Holders {
public:
    explicit Holders(Connection& connection);

    void define(const Thing& limit, std::uint32_t max);
    bool is_defined(const Thing& limit) const { return limits_.contains(limit); }

    std::uint32_t max(const Thing& thing) const;
    std::uint32_t taken(const Thing& thing) const;
    std::uint32_t free(const Thing& thing) const;
    bool is_held_by(const Thing& thing, JobId job) const;

    // Takes the lowest free slot.
    void take(const Thing& thing, JobId job);
    // False: it did not hold it.
    bool release(const Thing& thing, JobId job);

private:
    using Slots = std::map<std::uint32_t, JobId>;

    std::map<Thing, std::uint32_t> limits_;
    std::map<Thing, Slots> rows_;
    Statement define_, take_key_, take_limit_, release_key_, release_limit_;
};

}  // namespace perdure::sqlite
