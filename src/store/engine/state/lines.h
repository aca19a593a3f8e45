// Lines: jobs by their place, as the tables show them and as the group that is being applied has
// changed them. The tables are asked for what was committed only: a group is written as a whole
// when it is complete, and nothing is written to be asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/engine/state/group_rows.h"

namespace perdure::store {

using JobsInMemory = std::unordered_map<std::uint64_t, JobRow>;

class Lines {
public:
    Lines(GroupRows& written, const JobsInMemory& jobs) : written_(written), jobs_(jobs) {}

    // The job has come from there; null: it is new.
    void note_move(const JobRow& job, const PlaceRow* from);
    // It is there no more.
    void leave(const JobRow& job, const PlaceRow& from);
    // The tables show all.
    void note_written();

    // A part of each shape's line. `rows`: how many `take` was called for; `is_all`: nobody is
    // behind them.
    struct Read {
        std::uint32_t rows = 0;
        bool is_all = false;
    };
    std::vector<Read> read(const std::vector<LineQuery>& queries,
                           const LineReader::TakeRowOf& take);

    // The first shape behind one of which a job may be blocked on the permit.
    std::optional<ShapeId> next_shape_blocked_on(const Permit& permit, ShapeId behind);
    // In the order of the line, until `is_it` answers true.
    void find_blocked(const Permit& permit, ShapeId shape, const std::function<bool(JobId)>& is_it);
    // How many ready jobs of this shape have yet to take the permit, or at least `enough`.
    std::uint32_t wanting(const Permit& permit, ShapeId shape, std::uint32_t enough);
    // Jobs in `ready` that still hold their permits.
    const std::set<JobId>& kept() const { return kept_; }
    void note_kept(JobId job) { kept_.insert(job); }

private:
    class Reading;
    struct BlockedLine {
        std::set<QueuePosition> entered;    // who was put there, or put back, by this group
        std::optional<QueuePosition> left;  // up to here all whom the tables show have left
    };

    const JobRow* changed(JobId id) const;
    bool is_where_tables_show(const JobRow& job) const;
    bool has_left(const QueuePosition& order, const Permit& permit) const;
    void change_blocked(const JobRow& job, const PlaceRow& place, bool enters);
    void change_wanting(const JobRow& job, int step);
    std::vector<QueuePosition> entered(ShapeId shape, const std::optional<QueuePosition>& behind);

    GroupRows& written_;
    const JobsInMemory& jobs_;
    std::set<JobId> kept_;

    // Of this group.
    std::vector<std::pair<ShapeId, JobId>> entered_ready_;
    std::unordered_map<ShapeId, std::vector<JobId>> entered_by_shape_;  // the first of them
    std::size_t sorted_ = 0;                                            // how many
    std::map<PermitLine, BlockedLine> blocked_;
    std::map<PermitLine, std::int64_t> wanting_;  // more than the tables show, or fewer
};

}  // namespace perdure::store
