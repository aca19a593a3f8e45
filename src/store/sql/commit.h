// How a store commits a group although some rows cannot be understood (C9).
#pragma once

#include <utility>

#include "store/engine/apply/apply.h"
#include "store/engine/damage_book.h"

namespace perdure::store::sql {

// A row that cannot be understood is told to the change that needs it; its neighbours in the group
// are carried out. `write(call)` makes one transaction of `call(State&)`; `drop_state()` forgets
// what is in memory.
template <class Write, class Drop>
Result<GroupReply> commit_around_damage(const Group& group, const DamageBook& book, Write write,
                                        Drop drop_state) {
    GivenUp given_up;
    bool one_by_one = false;
    auto all_others = [&](State& state) {
        if (one_by_one) state.tables.write_one_by_one();
        return store::commit(state, group, given_up);
    };
    for (;;) {
        const auto known = given_up.size() + book.isolated();
        Result<GroupReply> reply = write(all_others);
        if (one_by_one) drop_state();
        if (reply || !reply.is(Errc::corrupt)) return reply;
        if (given_up.size() + book.isolated() != known) continue;
        if (std::exchange(one_by_one, true)) return reply;
    }
}

}  // namespace perdure::store::sql
