#include "store/sqlite/state/holders.h"

#include <algorithm>
#include <string>

#include "store/sqlite/damage/row_name.h"

namespace perdure::sqlite {
namespace {

using Kind = Thing::Kind;

}  // namespace

Holders::Holders(Connection& c, DamageBook& book)
    : define_(c, "INSERT OR REPLACE INTO limit_max (tenant, name, max) VALUES (?, ?, ?)"),
      take_key_(c, "INSERT INTO key_holder (tenant, key, job) VALUES (?, ?, ?)"),
      take_limit_(c, "INSERT INTO limit_holder (tenant, name, slot, job) VALUES (?, ?, ?, ?)"),
      release_key_(c, "DELETE FROM key_holder WHERE tenant = ? AND key = ? AND job = ?"),
      release_limit_(c,
                     "DELETE FROM limit_holder WHERE tenant = ? AND name = ? AND slot = ?"
                     " AND job = ?"),
      release_odd_(c, "DELETE FROM limit_holder WHERE tenant = ? AND name = ? AND job = ?") {
    load(c, book);
}

void Holders::load(Connection& c, DamageBook& book) {
    Statement limits(c, "SELECT tenant, name, max FROM limit_max");
    auto limit = limits.query({});
    while (limit.next()) {
        const auto max = limit.number(2);
        const bool is_sound = max > 0 && max < odd_slot_min;
        limits_[{Kind::limit, limit.text(0), limit.text(1)}] =
            is_sound ? static_cast<std::uint32_t>(max) : 0;
        if (!is_sound)
            book.note({"limit_max", row_name({limit.text(0), limit.text(1)}),
                       "its maximum is out of bounds: it counts as full; set the limit again"});
    }
    Statement keys(c, "SELECT tenant, key, job FROM key_holder");
    auto key = keys.query({});
    while (key.next()) rows_[{Kind::key, key.text(0), key.text(1)}].emplace(1, JobId{key.bits(2)});
    Statement slots(c, "SELECT tenant, name, slot, job FROM limit_holder");
    auto slot = slots.query({});
    while (slot.next()) {
        const auto number = slot.number(2);
        const bool is_sound = number > 0 && number < odd_slot_min;
        const auto at = is_sound ? static_cast<std::uint32_t>(number) : next_odd_slot_++;
        rows_[{Kind::limit, slot.text(0), slot.text(1)}].emplace(at, JobId{slot.bits(3)});
        if (!is_sound)
            book.note({"limit_holder", row_name({slot.text(0), slot.text(1), number}),
                       "its slot is out of bounds: it counts as taken"});
    }
}

void Holders::hold_without_row(const Thing& thing, JobId job) {
    rows_[thing].emplace(next_odd_slot_++, job);
}

void Holders::define(const Thing& limit, std::uint32_t max) {
    define_.run_one({limit.tenant, limit.name, max});
    limits_[limit] = max;
}

std::uint32_t Holders::max(const Thing& thing) const {
    if (thing.kind == Kind::key) return 1;
    const auto found = limits_.find(thing);
    return found == limits_.end() ? 0 : found->second;  // not defined any more: nobody may have it
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
    if (slot > max(thing)) fail_corrupt("no slot of `" + thing.name + "` is free");
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
    const bool is_odd = held->first >= odd_slot_min;
    if (thing.kind == Kind::key) {
        if (!is_odd) release_key_.run_one({thing.tenant, thing.name, job});
    } else if (is_odd) {
        release_odd_.run({thing.tenant, thing.name, job});
    } else {
        release_limit_.run_one({thing.tenant, thing.name, held->first, job});
    }
    slots.erase(held);
    if (slots.empty()) rows_.erase(found);
    return true;
}

}  // namespace perdure::sqlite
