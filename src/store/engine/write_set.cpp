#include "store/engine/write_set.h"

namespace perdure::store {

// One by one: what they have room for is used by the next group.
void WriteSet::clear() {
    jobs.clear();
    forgotten.clear();
    large.clear();
    holders.clear();
    relations.clear();
    ledger.clear();
    owed_ends.clear();
    owed_permits.clear();
    owed_removals.clear();
    leftovers.clear();
    notes.clear();
    old_keys.clear();
    keys.clear();
    shapes.clear();
    tallies.clear();
    pauses.clear();
    limits.clear();
    sessions.clear();
    directories.clear();
    forgotten_sessions.clear();
    servers.clear();
    service.reset();
    tidy = false;
}

}  // namespace perdure::store
