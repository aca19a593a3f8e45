// Fronts: the first jobs of each shape's line in `ready`, and which of all lines is the first for
// an offer: a claim costs the same however many lines there are. Only a copy, thrown away with the
// State that keeps it up to date.
//
// What is known of a line is its beginning without gaps: State tells of each job that enters or
// leaves. A line of which nothing is known, though there may be jobs in it, is unread; it has to be
// read before first() can be relied on. One with a row that cannot be understood is left to those
// who read it from its beginning, at each claim.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/claim.h"
#include "store/engine/state/shapes.h"

namespace perdure::store {

class Fronts {
public:
    struct Head {
        ClaimOrder order;
        ShapeId shape = 0;

        friend auto operator<=>(const Head&, const Head&) = default;
    };

    // Nothing has been read of the lines that these shapes have.
    explicit Fronts(const Shapes& shapes);
    Fronts(const Fronts&) = delete;
    Fronts& operator=(const Fronts&) = delete;

    void enter(ShapeId id, const ClaimOrder& order);
    void leave(ShapeId id, const ClaimOrder& order);
    // Called after it was paused or resumed in the shapes.
    void note_pause(const std::string& tenant, const std::string& queue);

    const std::set<ShapeId>& unread(const std::string& tenant) const;
    const std::set<ShapeId>& damaged(const std::string& tenant) const;
    // How many jobs to read of a line: there is one budget for all of them.
    std::uint32_t read_max(std::uint32_t wanted) const;
    // From where on to read an unread line: what is before it has left. Mostly that can be done
    // without writing first what is pending, which is written faster all at once.
    struct ReadFrom {
        std::optional<ClaimOrder> behind;
        bool as_written = false;
    };
    ReadFrom read_from(ShapeId id) const;
    void note_written();  // all that was pending
    // The first of a line, in order; `is_all`: there are no others.
    void read(ShapeId id, std::vector<ClaimOrder> front, bool is_all);
    void forget_front(ShapeId id);  // it is unread again
    void note_damaged(ShapeId id);

    // For a claim that has to look behind the line's first job. Each is to be shown again.
    void hide(ShapeId id);
    void show(ShapeId id);

    // Of all lines that are read and shown and do not stand still. Empty if there is none.
    std::optional<Head> first(const Offer& offer) const;

private:
    using Heads = std::set<Head>;
    struct Queue {
        bool is_paused = false;
        Heads heads;  // while it is paused, too
        std::map<std::string, ShapeId> by_kind;
    };
    struct Tenant {
        Heads heads;
        std::map<std::string, Queue> queues;
        std::map<std::string, Heads> kinds;
        std::set<ShapeId> unread;
        std::set<ShapeId> damaged;
    };
    enum class Known { front, nothing, damage };
    enum class Pending { nothing, in_front, behind_front };
    struct Line {
        Tenant* tenant = nullptr;
        Queue* queue = nullptr;
        Heads* kind = nullptr;
        Known known = Known::front;
        bool is_all = true;  // there is nothing behind `front`
        bool is_hidden = false;
        std::vector<ClaimOrder> front;  // the first one last
        std::optional<ClaimOrder> end;  // how far `front` went, whoever has left it since
        Pending pending = Pending::nothing;
        std::optional<Head> listed;  // in the heads of its queue, at least
    };
    Line& add(ShapeId id);
    const Tenant* find_tenant(const std::string& name) const;
    bool stands_still(const std::string& tenant, const std::string& queue) const;
    std::size_t front_max() const;
    void enter_front(Line& line, const ClaimOrder& order);
    void note_pending(ShapeId id, Line& line, const ClaimOrder& order);
    void update(ShapeId id, Line& line);
    static void list(ShapeId id, Line& line);
    const Head* first_in(const Queue& queue, const std::vector<std::string>& kinds) const;

    const Shapes& shapes_;
    std::map<std::string, Tenant> tenants_;
    std::unordered_map<ShapeId, Line> lines_;  // without those that are known to be empty
    std::vector<ShapeId> pending_;
};

}  // namespace perdure::store
