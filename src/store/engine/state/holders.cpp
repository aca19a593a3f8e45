#include "store/engine/state/holders.h"

#include <algorithm>
#include <string>

#include "base/zoo.h"
#include "store/engine/row_name.h"

namespace perdure::store {
namespace {

using Kind = Permit::Kind;

}  // namespace

Holders::Holders(const Contents& contents, Pending& pending, DamageBook& book) : pending_(pending) {
    for (const auto& limit : contents.limits) take_limit(limit, book);
    for (const auto& holder : contents.holders) take_holder(holder, book);
}

void Holders::take_limit(const LimitRow& row, DamageBook& book) {
    const bool is_sound = row.max > 0 && row.max < Slots::odd_min;
    limits_[row.limit] = is_sound ? static_cast<std::uint32_t>(row.max) : 0;
    if (!is_sound)
        book.note({"limit_max", row_name({row.limit.tenant, row.limit.name}),
                   "its maximum is out of bounds: it counts as full; set the limit again"});
}

void Holders::take_holder(const Contents::Holder& row, DamageBook& book) {
    const bool is_sound = row.slot > 0 && row.slot < Slots::odd_min;
    const auto at = is_sound ? static_cast<std::uint32_t>(row.slot) : next_odd_slot_++;
    rows_[row.permit].take(at, row.job);
    if (!is_sound)
        book.note({"limit_holder", row_name({row.permit.tenant, row.permit.name, row.slot}),
                   "its slot is out of bounds: it counts as taken"});
}

void Holders::hold_without_row(const Permit& permit, JobId job) {
    rows_[permit].take(next_odd_slot_++, job);
}

void Holders::define(const Permit& limit, std::uint32_t max) {
    pending_.change().limits.push_back({limit, max});
    limits_[limit] = max;
}

std::uint32_t Holders::max(const Permit& permit) const {
    if (permit.kind == Kind::key) return zoo(Bug::key_not_checked) ? 2 : 1;
    const auto found = limits_.find(permit);
    if (found == limits_.end()) return 0;  // not defined any more: nobody may have it
    return found->second + (zoo(Bug::limit_counts_wrong) ? 1 : 0);
}

std::uint32_t Holders::taken(const Permit& permit) const {
    const auto found = rows_.find(permit);
    return found == rows_.end() ? 0 : static_cast<std::uint32_t>(found->second.size());
}

std::uint32_t Holders::free(const Permit& permit) const {
    const auto most = max(permit);
    // A limit may have been lowered below what is taken.
    return most - std::min(most, taken(permit));
}

bool Holders::is_held_by(const Permit& permit, JobId job) const {
    const auto found = rows_.find(permit);
    return found != rows_.end() && found->second.held_by(job);
}

void Holders::take(const Permit& permit, JobId job) {
    auto& slots = rows_[permit];
    const auto slot = slots.lowest_free();
    if (slot > max(permit)) fail_corrupt("no slot of `" + permit.name + "` is free");
    pending_.change().holders.push_back({HolderChange::Kind::taken, permit, slot, job});
    slots.take(slot, job);
}

bool Holders::release(const Permit& permit, JobId job) {
    const auto found = rows_.find(permit);
    if (found == rows_.end()) return false;
    auto& slots = found->second;
    const auto held = slots.held_by(job);
    if (!held) return false;
    // What was held without a row of its own may have one that makes no sense.
    const bool is_odd = *held >= Slots::odd_min;
    pending_.change().holders.push_back(
        {is_odd ? HolderChange::Kind::freed_without_slot : HolderChange::Kind::freed, permit, *held,
         job});
    slots.release(*held);
    if (slots.empty()) rows_.erase(found);
    return true;
}

}  // namespace perdure::store
