#include "store/sqlite/state/holders.h"

#include <algorithm>

#include "base/assert.h"

namespace perdure::sqlite {
namespace {

using Kind = Thing::Kind;

}  // namespace

Holders::Holders(Connection& c)
    : define_(c, "INSERT OR REPLACE INTO limit_max (tenant, name, max) VALUES (?, ?, ?)"),
      take_key_(c, "INSERT INTO key_holder (tenant, key, job) VALUES (?, ?, ?)"),
      take_limit_(c, "INSERT INTO limit_holder (tenant, name, slot, job) VALUES (?, ?, ?, ?)"),
      release_key_(c, "DELETE FROM key_holder WHERE tenant = ? AND key = ? AND job = ?"),
      release_limit_(c,
                     "DELETE FROM limit_holder WHERE tenant = ? AND name = ? AND slot = ?"
                     " AND job = ?") {
    Statement limits(c, "SELECT tenant, name, max FROM limit_max");
    auto limit = limits.query({});
    while (limit.next())
        limits_[{Kind::limit, limit.text(0), limit.text(1)}] =
            static_cast<std::uint32_t>(limit.number(2));
    Statement keys(c, "SELECT tenant, key, job FROM key_holder");
    auto key = keys.query({});
    while (key.next())
        rows_[{Kind::key, key.text(0), key.text(1)}].emplace(1, JobId{key.natural(2)});
    Statement slots(c, "SELECT tenant, name, slot, job FROM limit_holder");
    auto slot = slots.query({});
    while (slot.next())
        rows_[{Kind::limit, slot.text(0), slot.text(1)}].emplace(
            static_cast<std::uint32_t>(slot.number(2)), JobId{slot.natural(3)});
}

void Holders::define(const Thing& limit, std::uint32_t max) {
    define_.run_one({limit.tenant, limit.name, max});
    limits_[limit] = max;
}

std::uint32_t Holders::max(const Thing& thing) const {
    if (thing.kind == Kind::key) return 1;
    const auto found = limits_.find(thing);
    if (found == limits_.end()) fail_corrupt("limit `" + thing.name + "` is used, not defined");
    return found->second;
}

std::uint32_t Holders::taken(const Thing& thing) const {
    const auto found = rows_.find(thing);
    return found == rows_.end() ? 0 : static_cast<std::uint32_t>(found->second.size());
}

std::uint32_t Holders::free(const Thing& thing) const {
    const auto most = max(thing);
    // A limit may have been lowered below what is taken.
    return most - std::min(most, taken(thing));
}

bool Holders::is_held_by(const Thing& thing, JobId job) const {
    const auto found = rows_.find(thing);
    if (found == rows_.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(),
                       [&](const auto& row) { return row.second == job; });
}

void Holders::take(const Thing& thing, JobId job) {
    auto& slots = rows_[thing];
    std::uint32_t slot = 1;
    while (slots.contains(slot)) ++slot;
    PERDURE_ASSERT(slot <= max(thing));
    if (thing.kind == Kind::key) {
        take_key_.run_one({thing.tenant, thing.name, job});
    } else {
        take_limit_.run_one({thing.tenant, thing.name, slot, job});
    }
    slots.emplace(slot, job);
}

bool Holders::release(const Thing& thing, JobId job) {
    const auto found = rows_.find(thing);
    if (found == rows_.end()) return false;
    auto& slots = found->second;
    const auto held = std::find_if(slots.begin(), slots.end(),
                                   [&](const auto& row) { return row.second == job; });
    if (held == slots.end()) return false;
    if (thing.kind == Kind::key) {
        release_key_.run_one({thing.tenant, thing.name, job});
    } else {
        release_limit_.run_one({thing.tenant, thing.name, held->first, job});
    }
    slots.erase(held);
    if (slots.empty()) rows_.erase(found);
    return true;
}

}  // namespace perdure::sqlite
