// Fronts: the first jobs of each shape's line in `ready`, of which the Ranking finds the one that
// is first for an offer. Only a copy, thrown away with the State that keeps it up to date.
//
// What is known of a line is its beginning without gaps: State tells of each job that enters or
// leaves. A line of which nothing is known, though there may be jobs in it, is unread; it has to be
// read before first() can be relied on. One whose known jobs have all left is listed by the last of
// them, which all others are behind: it has to be read only when that comes first. One with a row
// that cannot be understood is left to those who read it from its beginning, at each claim.
//
// All lines together keep 8,192 jobs, or two for each line if there are more lines. That a front is
// known does not mean that its jobs are in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ownership/claim.h"
#include "store/engine/state/ranking.h"
#include "store/engine/state/shapes.h"

namespace perdure::store {

class Fronts {
public:
    using Head = Ranking::Head;

    // Nothing has been read of the lines that these shapes have.
    Fronts(const Shapes& shapes, const QueueWeights& weights);
    Fronts(const Fronts&) = delete;
    Fronts& operator=(const Fronts&) = delete;

    void enter(ShapeId id, const QueuePosition& order);
    void leave(ShapeId id, const QueuePosition& order);

    const std::set<ShapeId>& unread(const std::string& tenant) const;
    const std::set<ShapeId>& damaged(const std::string& tenant) const;
    // How many jobs to read of a line: there is one budget for all of them.
    std::uint32_t read_max(std::uint32_t wanted) const;
    // How many of them to have in memory: others would be let go before their turn.
    std::uint32_t load_max() const;
    // False: it is listed by one who has left, or not at all.
    bool knows_first_of(ShapeId id) const;
    // Behind whom to read a line: all before have left. Empty: from its beginning on.
    std::optional<QueuePosition> read_from(ShapeId id) const;
    // The first of a line, in order; `is_all`: there are no others.
    void read(ShapeId id, std::vector<QueuePosition> front, bool is_all);
    void forget_front(ShapeId id);  // it is unread again
    void note_damaged(ShapeId id);

    // For a claim that has to look behind the line's first job. Each is to be shown again.
    void hide(ShapeId id);
    void show(ShapeId id);

    // Finds the first of all lines that are read and shown.
    Ranking& ranking() { return ranking_; }
    std::size_t jobs() const { return jobs_; }  // in all fronts

private:
    struct Tenant {
        std::set<ShapeId> unread;
        std::set<ShapeId> damaged;
    };
    enum class Known { front, end, nothing, damage };
    struct Line {
        Tenant* tenant = nullptr;
        Known known = Known::front;
        bool is_all = true;  // there is nothing behind `front`
        bool is_hidden = false;
        std::vector<QueuePosition> front;  // the first one last
        std::optional<QueuePosition> end;  // how far `front` went: nobody else is before it
        bool is_long = false;              // it is among `long_`
    };
    Line& add(ShapeId id);
    const Tenant* find_tenant(const std::string& name) const;
    std::size_t front_max() const;
    void enter_front(Line& line, const QueuePosition& order);
    void enter_behind(ShapeId id, Line& line, const QueuePosition& order);
    void use_up(ShapeId id, Line& line);
    void update(ShapeId id, Line& line);
    void list(ShapeId id, Line& line);
    void clear_front(Line& line);
    void keep_to_budget(ShapeId id, Line& line);
    void shorten(Line& line);

    const Shapes& shapes_;
    Ranking ranking_;
    std::map<std::string, Tenant> tenants_;
    std::unordered_map<ShapeId, Line> lines_;  // without those that are known to be empty
    std::size_t jobs_ = 0;
    std::set<ShapeId> long_;  // lines of which more was known than they may have at least
    ShapeId shortened_ = 0;   // the last one that was made shorter
};

}  // namespace perdure::store
