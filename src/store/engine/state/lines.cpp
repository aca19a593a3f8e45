#include "store/engine/state/lines.h"

#include <algorithm>

#include "store/engine/failure.h"

namespace perdure::store {
namespace {

const QueuePosition& order_in(const PlaceRow& ready) { return std::get<Ready>(ready).entry.order; }

}  // namespace

// In this group, if it has.
const JobRow* Lines::changed(JobId id) const {
    const auto found = jobs_.find(id.value);
    return found != jobs_.end() && found->second.changed ? &found->second : nullptr;
}

// In `ready`, that is.
bool Lines::is_where_tables_show(const JobRow& job) const {
    const auto* ready = job.in<Ready>();
    const auto* stored = job.stored ? std::get_if<Ready>(&*job.stored) : nullptr;
    return ready && stored && ready->entry.order == stored->entry.order;
}

void Lines::note_move(const JobRow& job, const PlaceRow* from) {
    if (from) leave(job, *from);
    const auto& to = job.place;
    if (const auto* ready = std::get_if<Ready>(&to)) {
        entered_ready_.emplace_back(job.shape, job.id);
        if (ready->kept_until) kept_.insert(job.id);
    }
    change_blocked(job, to, true);
    if (job.wants_its_permits(to)) change_wanting(job, 1);
}

void Lines::leave(const JobRow& job, const PlaceRow& from) {
    const auto* ready = std::get_if<Ready>(&from);
    if (ready && ready->kept_until) kept_.erase(job.id);
    change_blocked(job, from, false);
    if (job.wants_its_permits(from)) change_wanting(job, -1);
}

void Lines::change_blocked(const JobRow& job, const PlaceRow& place, bool enters) {
    const auto* blocked = std::get_if<Blocked>(&place);
    if (!blocked || !blocked->on) return;
    auto& entered = blocked_[{*blocked->on, job.shape}].entered;
    if (enters)
        entered.insert(blocked->entry.order);
    else
        entered.erase(blocked->entry.order);
}

void Lines::change_wanting(const JobRow& job, int step) {
    for (const auto& permit : job.permits) wanting_[{permit, job.shape}] += step;
}

void Lines::note_written() {
    entered_ready_.clear();
    entered_by_shape_.clear();
    sorted_ = 0;
    blocked_.clear();
    wanting_.clear();
}

// Who is in the line and not where the tables show it, if anywhere.
std::vector<QueuePosition> Lines::entered(ShapeId shape,
                                          const std::optional<QueuePosition>& behind) {
    for (; sorted_ < entered_ready_.size(); ++sorted_) {
        const auto& [of, job] = entered_ready_[sorted_];
        entered_by_shape_[of].push_back(job);
    }
    std::vector<QueuePosition> orders;
    const auto found = entered_by_shape_.find(shape);
    if (found == entered_by_shape_.end()) return orders;
    for (const auto id : found->second) {
        const auto* job = changed(id);
        const bool is_there = job && job->in<Ready>() && !is_where_tables_show(*job);
        if (is_there && behind < order_in(job->place)) orders.push_back(order_in(job->place));
    }
    std::sort(orders.begin(), orders.end());
    orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
    return orders;
}

// A part of one line: what the tables show, and who has entered since.
class Lines::Reading {
public:
    Reading(const Lines& lines, const LineQuery& query, std::vector<QueuePosition> entered)
        : lines_(lines), query_(query), entered_(std::move(entered)) {}

    template <class Take>
    void take(const QueuePosition& order, std::uint64_t read_as, const LineReader::LoadRow& load,
              const Take& hand_over) {
        last_ = order;
        while (has_entered() && entered_[next_] < order && has_room()) take_entered(hand_over);
        const auto* job = lines_.changed(order.job);
        if (job && !lines_.is_where_tables_show(*job)) return;
        is_cut_ = !has_room();
        if (is_cut_) return;
        hand_over(order, read_as, load);
        ++read_.rows;
    }
    // So many rows there were. True: that is it; otherwise it has to be read on.
    template <class Take>
    bool end(std::uint32_t rows, const Take& hand_over) {
        const bool is_end = rows < query_.max;
        while (is_end && has_entered() && has_room()) take_entered(hand_over);
        read_.is_all = is_end && !has_entered() && !is_cut_;
        // All of them may have left since.
        return is_end || read_.rows > 0;
    }
    LineQuery further() const {
        auto query = query_;
        if (last_) query.behind = last_;
        return query;
    }
    const Read& read() const { return read_; }

private:
    bool has_entered() const { return next_ < entered_.size(); }
    bool has_room() const { return read_.rows < query_.max; }
    template <class Take>
    void take_entered(const Take& hand_over) {
        const auto never = []() -> JobRow {
            fail_corrupt("a job that has just come is not there");
        };
        hand_over(entered_[next_++], 0, never);
        ++read_.rows;
    }

    const Lines& lines_;
    LineQuery query_;
    std::vector<QueuePosition> entered_;
    std::size_t next_ = 0;
    std::optional<QueuePosition> last_;
    bool is_cut_ = false;
    Read read_;
};

std::vector<Lines::Read> Lines::read(const std::vector<LineQuery>& queries,
                                     const LineReader::TakeRowOf& take) {
    std::vector<Reading> all;
    std::vector<std::size_t> open;  // of them
    for (const auto& query : queries) {
        open.push_back(all.size());
        all.emplace_back(*this, query, entered(query.shape, query.behind));
    }
    const auto take_of = [&](std::size_t at) {
        return [&take, at](const QueuePosition& order, std::uint64_t read_as,
                           const LineReader::LoadRow& load) { take(at, order, read_as, load); };
    };
    while (!open.empty()) {
        std::vector<LineQuery> parts;
        for (const auto at : open) parts.push_back(all[at].further());
        const auto rows =
            written_.read_lines(parts, [&](std::size_t part, const QueuePosition& order,
                                           std::uint64_t read_as, const LineReader::LoadRow& load) {
                all[open[part]].take(order, read_as, load, take_of(open[part]));
            });
        std::vector<std::size_t> left;
        for (std::size_t part = 0; part < open.size(); ++part)
            if (!all[open[part]].end(rows[part], take_of(open[part]))) left.push_back(open[part]);
        open = std::move(left);
    }
    std::vector<Read> read;
    for (const auto& reading : all) read.push_back(reading.read());
    return read;
}

std::optional<ShapeId> Lines::next_shape_blocked_on(const Permit& permit, ShapeId behind) {
    std::optional<ShapeId> next;
    const auto* part = &written_.shapes_blocked_on(permit, 0);
    while (!part->is_all && part->rows.back() <= behind)
        part = &written_.shapes_blocked_on(permit, part->rows.back());
    const auto found = std::upper_bound(part->rows.begin(), part->rows.end(), behind);
    if (found != part->rows.end()) next = *found;
    auto at = blocked_.upper_bound({permit, behind});
    while (at != blocked_.end() && at->first.first == permit && at->second.entered.empty()) ++at;
    if (at == blocked_.end() || at->first.first != permit) return next;
    return std::min(next.value_or(at->first.second), at->first.second);
}

bool Lines::has_left(const QueuePosition& order, const Permit& permit) const {
    const auto* job = changed(order.job);
    if (!job) return false;
    const auto* blocked = job->in<Blocked>();
    return !blocked || blocked->on != permit || blocked->entry.order != order;
}

void Lines::find_blocked(const Permit& permit, ShapeId shape,
                         const std::function<bool(JobId)>& is_it) {
    auto& line = blocked_[{permit, shape}];
    const auto entered = line.entered;  // a copy: whoever is found may be moved
    auto next = entered.begin();
    bool is_found = false;
    bool all_left = true;
    written_.find_blocked({permit, shape}, line.left, [&](const QueuePosition& order) {
        while (!is_found && next != entered.end() && *next < order) is_found = is_it(next++->job);
        if (is_found) return true;
        if (next != entered.end() && *next == order) ++next;
        if (has_left(order, permit)) {
            if (all_left) line.left = order;
            return false;
        }
        all_left = false;
        is_found = is_it(order.job);
        return is_found;
    });
    while (!is_found && next != entered.end()) is_found = is_it(next++->job);
}

std::uint32_t Lines::wanting(const Permit& permit, ShapeId shape, std::uint32_t enough) {
    const auto found = wanting_.find({permit, shape});
    const std::int64_t more = found == wanting_.end() ? 0 : found->second;
    const auto asked = enough + static_cast<std::uint32_t>(std::max<std::int64_t>(-more, 0));
    const auto all = std::int64_t{written_.wanting({permit, shape}, asked)} + more;
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(all, 0, enough));
}

}  // namespace perdure::store
