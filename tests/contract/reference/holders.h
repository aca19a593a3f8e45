// Holders: who holds which key and which slot of which limit (C4). A thing and slot has one
// holder by construction; nothing is counted apart from the rows themselves.
#pragma once

#include <cstdint>
#include <map>

#include "base/id.h"
#include "core/claim.h"

namespace perdure::reference {

class Holders {
public:
    using Slots = std::map<std::uint32_t, JobId>;

    void define(const Thing& limit, std::uint32_t max) { limits_[limit] = max; }
    bool is_defined(const Thing& limit) const { return limits_.contains(limit); }

    std::uint32_t max(const Thing& thing) const;
    std::uint32_t taken(const Thing& thing) const;
    std::uint32_t free(const Thing& thing) const;
    bool is_held_by(const Thing& thing, JobId job) const;

    // Takes the lowest free slot.
    void take(const Thing& thing, JobId job);
    // False: it did not hold it.
    bool release(const Thing& thing, JobId job);

    const std::map<Thing, Slots>& rows() const { return rows_; }
    const std::map<Thing, std::uint32_t>& limits() const { return limits_; }

private:
    std::map<Thing, std::uint32_t> limits_;
    std::map<Thing, Slots> rows_;
};

}  // namespace perdure::reference
