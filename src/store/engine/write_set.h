// WriteSet: what a group has changed and no table shows yet, by table. The engine fills it, a
// Tables writes it. Within one vector the order is the order in which it happened.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/explain/ledger.h"
#include "core/ownership/claim.h"
#include "store/engine/rows/rows.h"

namespace perdure::store {

struct ShapeRow {
    ShapeId id = 0;
    Shape shape;
};
// How many jobs of a shape are in each state. Numbers as stored: whoever reads them checks them.
using Counts = std::array<std::int64_t, places.size()>;
struct TallyRow {
    ShapeId shape = 0;
    Counts jobs{};
};
struct PauseRow {
    std::string tenant;
    std::string queue;
    bool paused = false;
};
struct LimitRow {
    Permit limit;
    std::int64_t max = 0;
};

struct HolderChange {
    enum class Kind { taken, freed, freed_without_slot } kind = Kind::taken;
    Permit permit;
    std::uint32_t slot = 1;
    JobId job;
};

// A checkpoint or evidence that lies apart from its attempt. Empty bytes: it is removed.
struct LargeChange {
    AttemptKey attempt;
    Large kind = Large::checkpoint;
    std::optional<std::string> bytes;
};

// What jobs wait for, and their callbacks (K1 to K3).
struct NewAwaited {
    JobId job;
    std::uint32_t number = 0;
    After after;
    std::optional<Input> ended;
};
// Those who still wait for the other one, up to the last.
struct NotifiedWaiters {
    JobId other;
    Input ended;
    JobId last;
};
struct NewAdded {
    JobId parent;
    AddedRow row;
};
struct NewMade {
    CallbackOf of;
    JobId job;
};
using RelationChange = std::variant<NewAwaited, NotifiedWaiters, NewAdded, NewMade>;

// A job that is removed with all of its rows, and which of its relations may have rows.
struct ForgottenJob {
    JobRow job;
    bool is_large = false;  // its place and what was asked alone: the rest is owed (C8)
    bool has_awaited = false;
    bool has_added = false;
    bool has_made = false;
};

// So many of the rows that a removed job has left.
struct LeftoverPiece {
    JobId job;
    std::uint32_t max = 0;
};

struct SessionOfDirectory {
    DirectoryPlace directory;
    SessionId session;
};

using KeyName = std::pair<std::string, std::string>;  // tenant, idempotency key

// Jobs whose retention may be over at one instant. The first one is its key.
struct ForgetNote {
    ServiceTime forget_at;
    std::vector<JobId> jobs;
};
// It is replaced by what is left of it.
struct TakenNote {
    ServiceTime forget_at;
    JobId first;
    std::vector<JobId> left;  // in order
};

struct WriteSet {
    // Each leaves the place that the tables show and enters the one that it is in; then it is
    // marked as stored. Good until they are written.
    std::vector<JobRow*> jobs;
    std::vector<ForgottenJob> forgotten;
    std::vector<LargeChange> large;
    std::vector<HolderChange> holders;
    std::vector<RelationChange> relations;
    std::vector<Recovery> ledger;
    std::map<JobId, bool> owed_ends;                        // false: it is paid
    std::map<Permit, std::optional<ShapeId>> owed_permits;  // empty: it is paid
    std::map<JobId, bool> owed_removals;                    // false: it is paid
    std::vector<LeftoverPiece> leftovers;                   // they go
    std::vector<TakenNote> notes;
    std::set<KeyName> old_keys;  // they go, before others come
    std::map<KeyName, IdempotencyRow> keys;
    std::vector<ShapeRow> shapes;
    std::vector<TallyRow> tallies;
    std::vector<PauseRow> pauses;
    std::vector<LimitRow> limits;
    std::vector<const SessionRow*> sessions;
    std::vector<SessionOfDirectory> directories;
    std::vector<SessionOfDirectory> forgotten_sessions;
    std::map<ServerId, std::optional<ServerRow>> servers;  // empty: it is removed
    std::optional<ServiceRow> service;
    // What stands for no job any more is removed, a piece at a time: asked for by ticks.
    bool tidy = false;

    void clear();
};

}  // namespace perdure::store
