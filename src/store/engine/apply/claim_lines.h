// ClaimLines: which job is next for a claim, over the lines that its session can take from (E6,
// E7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "store/engine/apply/line_parts.h"
#include "store/engine/state/state.h"

namespace perdure::store {

class ClaimLines {
public:
    ClaimLines(State& state, const SessionRow& session);
    ClaimLines(const ClaimLines&) = delete;
    ClaimLines& operator=(const ClaimLines&) = delete;

    // A line that the claim reads by itself: it has skipped a job there, or a row is damaged.
    struct Cursor {
        ShapeId shape = 0;
        std::optional<QueuePosition> skipped;
        std::set<QueuePosition> came_back;  // ahead of it, since then
        bool is_damaged = false;
        LinePart ahead;  // read, and from `next` on not yet looked at
        std::size_t next = 0;
    };
    struct First {
        Fronts::Head head;
        Cursor* cursor = nullptr;  // empty if nobody reads the line apart
    };
    // How many the claim may still take, and how many are read of a line: more and more while it
    // takes none of them.
    struct Amount {
        std::uint32_t jobs = 0;
        std::uint32_t of_line = 0;
    };
    void want(Amount amount) { wanted_ = amount; }

    // The first of all lines; it is in memory. Empty: there is none, or the group has read enough.
    std::optional<First> first();
    void pass(const First& first);  // whatever becomes of it
    void skip(const First& first);  // it stays where it is
    void show_skipped();            // to those who come later

    bool are_read() const { return are_read_; }  // nothing was left out when it looked last
    bool is_any_left();

private:
    bool may_take_from(ShapeId id) const;
    void read_apart(ShapeId id);
    void read_damaged(const std::string& tenant) {
        for (const auto id : state_.fronts.damaged(tenant)) read_apart(id);
    }
    bool read_fronts(const std::string& tenant);
    bool read_all_fronts();
    bool is_in_unread(const std::string& tenant) const;
    void take_front(ShapeId id, LinePart& part);
    void note_promoted();
    const QueuePosition* head_of(Cursor& cursor);
    std::optional<First> first_listed();
    bool is_in_memory(const Fronts::Head& head) const;
    bool read_on(const Fronts::Head& first);
    bool is_any_listed();

    State& state_;
    const SessionRow& session_;
    Amount wanted_;
    std::vector<Cursor> cursors_;
    std::size_t promoted_ = 0;  // how many of them are known here
    bool are_read_ = true;
};

}  // namespace perdure::store
