// IdleNote: what an idle store must not forget for long (T4): service time, and that sessions were
// heard. It may be kept beside the tables, where it costs less than a transaction, as long as
// nothing else changes: what is written next writes it all.
#pragma once

#include <cstdint>
#include <vector>

#include "store/engine/rows/rows.h"

namespace perdure::store {

struct HeardSession {
    SessionId id;
    std::uint64_t heartbeat = 0;
    std::uint64_t content_hash = 0;
    std::uint64_t renewal = 0;
    ServiceTime lease_deadline;
    ServiceTime heard_at;
};

struct IdleNote {
    // Of the row of service time that the tables show: it goes with no other.
    struct Base {
        std::uint64_t tick = 0;
        std::uint64_t servers_used = 0;
        friend bool operator==(const Base&, const Base&) = default;
    };
    Base base;
    ServiceRow service;
    std::vector<HeardSession> sessions;  // since the tables were written
};

inline IdleNote::Base base_of(const ServiceRow& row) { return {row.clock.tick, row.servers_used}; }

inline HeardSession heard(const SessionRow& row) {
    return {row.id, row.heartbeat, row.content_hash, row.renewal, row.lease_deadline, row.heard_at};
}
// Nothing if the row is not older.
inline void add_to(SessionRow& row, const HeardSession& heard) {
    if (row.id != heard.id || row.renewal >= heard.renewal) return;
    row.heartbeat = heard.heartbeat;
    row.content_hash = heard.content_hash;
    row.renewal = heard.renewal;
    row.lease_deadline = heard.lease_deadline;
    row.heard_at = heard.heard_at;
}

}  // namespace perdure::store
