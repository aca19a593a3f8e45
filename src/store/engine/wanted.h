// Wanted, Loaded: keys that a group asks its tables for, all in one call, and the rows that were
// found. A row that cannot be understood is an answer as well: whoever asks for it is told, and
// nobody else (C9).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "core/job/callbacks.h"
#include "ports/views.h"
#include "store/engine/failure.h"
#include "store/engine/rows/rows.h"
#include "store/engine/write_set.h"

namespace perdure::store {

// One of the others that a job waits for.
struct KnownAwaited {
    JobId other;
    AwaitedFacts facts;
};

using HistoryName = std::pair<JobId, Epoch>;  // the attempts of a job from this one on
using LargeName = std::pair<AttemptKey, Large>;
using MadeName = std::tuple<JobId, std::uint32_t, std::uint32_t>;  // parent, generation, number
inline MadeName name_of(const CallbackOf& of) { return {of.job, of.generation, of.number}; }
// The jobs of a shape that are blocked on a permit, or want it. As a position: those behind it.
using PermitLine = std::pair<Permit, ShapeId>;

// A part of a line of blocked jobs.
struct BlockedQuery {
    std::optional<QueuePosition> behind;  // empty: from the front on
    std::uint32_t max = 0;
};

struct Wanted {
    std::set<JobId> jobs;
    std::map<HistoryName, Epoch> history;  // before this one
    std::set<LargeName> large;
    std::set<KeyName> keys;
    std::set<JobId> facts;
    std::set<JobId> awaited;
    std::map<JobId, std::uint32_t> waiters;  // at most so many
    std::set<JobId> added;
    std::set<MadeName> made;
    std::map<PermitLine, std::uint32_t> shapes_blocked;  // the first so many behind that shape
    std::map<PermitLine, BlockedQuery> blocked;
    std::map<PermitLine, std::uint32_t> wanting;  // no more than so many are counted
};

template <class Value>
class LoadedRow {
public:
    LoadedRow() = default;
    template <class Read>
    static LoadedRow of(Read read) {
        LoadedRow row;
        try {
            row.is_ = read();
        } catch (const Failure& failure) {
            if (failure.error.code != Errc::corrupt || failure.fatal) throw;
            row.is_ = failure;
        }
        return row;
    }

    Value& value() {
        if (const auto* failure = std::get_if<Failure>(&is_)) throw *failure;
        return std::get<Value>(is_);
    }

    // Null: it cannot be understood.
    const Value* known() const { return std::get_if<Value>(&is_); }

private:
    std::variant<Value, Failure> is_;
};
template <class Key, class Value>
using LoadedRows = std::map<Key, LoadedRow<Value>>;

struct Loaded {
    template <class Row>
    struct Some {  // the first ones
        std::vector<Row> rows;
        bool is_all = false;  // there are no others
    };
    struct History {
        Epoch before;
        std::vector<AttemptRow> attempts;
    };
    struct Count {
        std::uint32_t count = 0;
        std::uint32_t enough = 0;  // less than this is exact
    };

    LoadedRows<JobId, std::optional<JobRow>> jobs;
    LoadedRows<HistoryName, History> history;
    LoadedRows<LargeName, std::string> large;
    LoadedRows<KeyName, std::optional<IdempotencyRow>> keys;
    LoadedRows<JobId, std::vector<KnownAwaited>> facts;
    LoadedRows<JobId, std::vector<AwaitedView>> awaited;
    LoadedRows<JobId, Some<JobId>> waiters;
    LoadedRows<JobId, std::vector<AddedRow>> added;
    LoadedRows<MadeName, std::optional<JobId>> made;
    LoadedRows<PermitLine, Some<ShapeId>> shapes_blocked;
    LoadedRows<PermitLine, Some<QueuePosition>> blocked;  // what is read on follows what is there
    LoadedRows<PermitLine, Count> wanting;
};

}  // namespace perdure::store
