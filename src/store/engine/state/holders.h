// Holders: who holds which key and which slot of which limit (C4). A copy of `key_holder`,
// `limit_holder` and `limit_max`. There are as many rows as running jobs hold permits, so that all
// of them are here. Damage never frees (C9): a row whose job
// or slot makes no sense is taken, a limit whose maximum makes no sense is full, and a job that
// runs without its row has the permit all the same.
#pragma once

#include <cstdint>
#include <map>

#include "base/id.h"
#include "core/ownership/claim.h"
#include "store/engine/damage_book.h"
#include "store/engine/state/group_rows.h"
#include "store/engine/state/slots.h"

namespace perdure::store {

class Holders {
public:
    Holders(const Contents& contents, Pending& pending, DamageBook& book);

    void define(const Permit& limit, std::uint32_t max);
    bool is_defined(const Permit& limit) const { return limits_.contains(limit); }

    std::uint32_t max(const Permit& permit) const;
    std::uint32_t taken(const Permit& permit) const;
    std::uint32_t free(const Permit& permit) const;
    bool is_held_by(const Permit& permit, JobId job) const;

    // It runs and must hold the permit, but has no row: nobody else may take it.
    void hold_without_row(const Permit& permit, JobId job);
    // Calls it for each holder.
    template <class Call>
    void for_each(Call call) const {
        for (const auto& [permit, slots] : rows_)
            for (const auto& [slot, job] : slots.jobs()) call(permit, slot, job);
    }

    // Takes the lowest free slot.
    void take(const Permit& permit, JobId job);
    // False: it did not hold it.
    bool release(const Permit& permit, JobId job);

private:
    void take_limit(const LimitRow& row, DamageBook& book);
    void take_holder(const Contents::Holder& row, DamageBook& book);

    Pending& pending_;
    std::uint32_t next_odd_slot_ = Slots::odd_min;
    std::map<Permit, std::uint32_t> limits_;
    std::map<Permit, Slots> rows_;
};

}  // namespace perdure::store
