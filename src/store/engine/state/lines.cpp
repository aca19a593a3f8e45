#include "store/engine/state/lines.h"

#include <algorithm>

#include "store/engine/failure.h"

namespace perdure::store {
namespace {

constexpr std::uint32_t shapes_read_max = 64;

const ClaimOrder& order_in(const PlaceRow& ready) { return std::get<Ready>(ready).stay.order; }

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
    return ready && stored && ready->stay.order == stored->stay.order;
}

void Lines::note_move(const JobRow& job, const PlaceRow* from) {
    if (from) leave(job, *from);
    const auto& to = job.place;
    if (const auto* ready = std::get_if<Ready>(&to)) {
        entered_ready_.emplace_back(job.shape, job.id);
        if (ready->kept_until) kept_.insert(job.id);
    }
    change_blocked(job, to, true);
    if (job.wants_its_things(to)) change_wanting(job, 1);
}

void Lines::leave(const JobRow& job, const PlaceRow& from) {
    const auto* ready = std::get_if<Ready>(&from);
    if (ready && ready->kept_until) kept_.erase(job.id);
    change_blocked(job, from, false);
    if (job.wants_its_things(from)) change_wanting(job, -1);
}

void Lines::change_blocked(const JobRow& job, const PlaceRow& place, bool enters) {
    const auto* blocked = std::get_if<Blocked>(&place);
    if (!blocked || !blocked->on) return;
    auto& entered = blocked_[{*blocked->on, job.shape}].entered;
    if (enters)
        entered.insert(blocked->stay.order);
    else
        entered.erase(blocked->stay.order);
}

void Lines::change_wanting(const JobRow& job, int step) {
    for (const auto& thing : job.things) wanting_[{thing, job.shape}] += step;
}

void Lines::note_written() {
    entered_ready_.clear();
    entered_by_shape_.clear();
    sorted_ = 0;
    blocked_.clear();
    wanting_.clear();
    shapes_blocked_.clear();
}

// Who is in the line and not where the tables show it, if anywhere.
std::vector<ClaimOrder> Lines::entered(ShapeId shape, const std::optional<ClaimOrder>& behind) {
    for (; sorted_ < entered_ready_.size(); ++sorted_) {
        const auto& [of, job] = entered_ready_[sorted_];
        entered_by_shape_[of].push_back(job);
    }
    std::vector<ClaimOrder> orders;
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

Lines::Read Lines::read(const LineQuery& query, const LineReader::TakeRow& take) {
    const auto entered = this->entered(query.shape, query.behind);
    auto next = entered.begin();
    Read read;
    const auto take_entered = [&] {
        const auto never = []() -> JobRow {
            fail_corrupt("a job that has just come is not there");
        };
        take(*next++, 0, never);
        ++read.rows;
    };
    std::optional<ClaimOrder> last = query.behind;
    bool is_cut = false;
    const auto take_written = [&](const ClaimOrder& order, std::uint64_t read_as,
                                  const LineReader::LoadRow& load) {
        last = order;
        while (next != entered.end() && *next < order && read.rows < query.max) take_entered();
        const auto* job = changed(order.job);
        if (job && !is_where_tables_show(*job)) return;
        is_cut = read.rows == query.max;
        if (is_cut) return;
        take(order, read_as, load);
        ++read.rows;
    };
    for (;;) {
        auto part = query;
        part.behind = last;
        const bool is_end = written_.read_line(part, take_written) < part.max;
        while (is_end && next != entered.end() && read.rows < query.max) take_entered();
        read.is_all = is_end && next == entered.end() && !is_cut;
        // All of them may have left since.
        if (is_end || read.rows > 0) return read;
    }
}

std::optional<ShapeId> Lines::next_shape_blocked_on(const Thing& thing, ShapeId behind) {
    const auto [known, is_new] = shapes_blocked_.try_emplace(thing);
    auto& first = known->second;
    if (is_new) first = written_.shapes_blocked_on(thing, 0, shapes_read_max);
    std::optional<ShapeId> next;
    const auto found = std::upper_bound(first.begin(), first.end(), behind);
    if (found != first.end()) {
        next = *found;
    } else if (first.size() == shapes_read_max) {
        const auto further = written_.shapes_blocked_on(thing, behind, 1);
        if (!further.empty()) next = further.front();
    }
    auto at = blocked_.upper_bound({thing, behind});
    while (at != blocked_.end() && at->first.first == thing && at->second.entered.empty()) ++at;
    if (at == blocked_.end() || at->first.first != thing) return next;
    return std::min(next.value_or(at->first.second), at->first.second);
}

bool Lines::has_left(const ClaimOrder& order, const Thing& thing) const {
    const auto* job = changed(order.job);
    if (!job) return false;
    const auto* blocked = job->in<Blocked>();
    return !blocked || blocked->on != thing || blocked->stay.order != order;
}

void Lines::find_blocked(const Thing& thing, ShapeId shape,
                         const std::function<bool(JobId)>& is_it) {
    auto& line = blocked_[{thing, shape}];
    const auto entered = line.entered;  // a copy: whoever is found may be moved
    auto next = entered.begin();
    bool is_found = false;
    bool all_left = true;
    written_.find_blocked(thing, shape, line.left, [&](const ClaimOrder& order) {
        while (!is_found && next != entered.end() && *next < order) is_found = is_it(next++->job);
        if (is_found) return true;
        if (next != entered.end() && *next == order) ++next;
        if (has_left(order, thing)) {
            if (all_left) line.left = order;
            return false;
        }
        all_left = false;
        is_found = is_it(order.job);
        return is_found;
    });
    while (!is_found && next != entered.end()) is_found = is_it(next++->job);
}

std::uint32_t Lines::wanting(const Thing& thing, ShapeId shape, std::uint32_t enough) {
    const auto found = wanting_.find({thing, shape});
    const std::int64_t more = found == wanting_.end() ? 0 : found->second;
    const auto asked = enough + static_cast<std::uint32_t>(std::max<std::int64_t>(-more, 0));
    const auto all = std::int64_t{written_.wanting(thing, shape, asked)} + more;
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(all, 0, enough));
}

}  // namespace perdure::store
