#include "store/engine/apply/claim_lines.h"

#include <algorithm>
#include <utility>

#include "base/probe.h"
#include "base/zoo.h"

namespace perdure::store {
namespace {

constexpr std::uint32_t ahead_max = 1'000;
// Lines whose fronts one group reads beyond the jobs that it takes: after a start none of them is
// known (C8).
constexpr std::uint32_t lines_read_max = 1'000;
constexpr std::uint32_t lines_ahead_max = 250;  // with one that has to be read on

}  // namespace

ClaimLines::ClaimLines(State& state, const SessionRow& session)
    : state_(state), session_(session), promoted_(state.promoted.size()) {
    read_damaged(session.offer.tenant);
    for (const auto& tenant : session.offer.other_tenants) read_damaged(tenant);
}

bool ClaimLines::may_take_from(ShapeId id) const {
    const auto& shape = state_.shapes.shape(id);
    if (!matches(session_.offer, shape)) return false;
    // A whole line that stands still: admission would skip each job of it.
    return !state_.shapes.is_paused(shape.tenant, shape.queue) || zoo(Bug::paused_queue_is_claimed);
}

// Its front cannot be kept.
void ClaimLines::read_apart(ShapeId id) {
    if (may_take_from(id)) cursors_.push_back({.shape = id, .is_damaged = true});
}

// Those of the tenant: what one worker cannot take is what the next one asks for. False: there are
// more than one group should read. Then nobody knows who is first, and nobody is taken.
bool ClaimLines::read_fronts(const std::string& tenant) {
    auto& fronts = state_.fronts;
    const auto& unread = fronts.unread(tenant);
    while (!unread.empty()) {
        const auto max = std::min<std::size_t>(lines_read_max - state_.lines_read, unread.size());
        if (max == 0 || state_.rows.has_loaded_enough()) return false;
        state_.lines_read += static_cast<std::uint32_t>(max);
        std::vector<LineQuery> queries;
        for (auto id = unread.begin(); queries.size() < max; ++id)
            queries.push_back({.shape = *id,
                               .behind = fronts.read_from(*id),
                               .max = fronts.read_max(wanted_.of_line)});
        auto parts = read_lines(state_, queries, fronts.load_max());
        for (std::size_t i = 0; i < parts.size(); ++i) take_front(queries[i].shape, parts[i]);
    }
    return true;
}

bool ClaimLines::read_all_fronts() {
    return read_fronts(session_.offer.tenant) &&
           std::ranges::all_of(session_.offer.other_tenants,
                               [&](const auto& tenant) { return read_fronts(tenant); });
}

void ClaimLines::take_front(ShapeId id, LinePart& part) {
    if (!part.is_damaged) return state_.fronts.read(id, std::move(part.jobs), part.is_all);
    state_.fronts.note_damaged(id);
    read_apart(id);
}

// Somebody came back into a line: what was read ahead may not be its front any more, and may begin
// behind it.
void ClaimLines::note_promoted() {
    for (; promoted_ < state_.promoted.size(); ++promoted_) {
        const auto& [order, shape] = state_.promoted[promoted_];
        for (auto& cursor : cursors_) {
            if (cursor.shape != shape) continue;
            if (cursor.skipped && order < *cursor.skipped) {
                cursor.came_back.insert(order);
            } else {
                cursor.ahead = {};
                cursor.next = 0;
            }
        }
    }
}

const QueuePosition* ClaimLines::head_of(Cursor& cursor) {
    auto& [shape, skipped, came_back, is_damaged, ahead, next] = cursor;
    if (!came_back.empty()) return &*came_back.begin();
    while (next == ahead.jobs.size() && !ahead.is_all) {
        const auto max = is_damaged ? ahead_max : state_.fronts.read_max(wanted_.of_line);
        ahead = read_line(state_, shape, skipped, max);
        next = 0;
        // If there are so many that cannot be understood, more are read: they must not hide the
        // rest.
        if (is_damaged || !ahead.is_damaged) break;
        is_damaged = true;
    }
    return next == ahead.jobs.size() ? nullptr : &ahead.jobs[next];
}

void ClaimLines::pass(const First& first) {
    if (!first.cursor) return;
    auto& cursor = *first.cursor;
    if (cursor.came_back.empty())
        ++cursor.next;
    else
        cursor.came_back.erase(cursor.came_back.begin());
}

// The first of all lines.
std::optional<ClaimLines::First> ClaimLines::first_listed() {
    are_read_ = read_all_fronts();
    if (!are_read_) return std::nullopt;
    note_promoted();
    auto& ranking = state_.fronts.ranking();
    std::optional<First> first;
    if (const auto head = ranking.first(session_.offer)) first = First{*head};
    for (auto& cursor : cursors_) {
        const auto* order = head_of(cursor);
        if (!order) continue;
        const Fronts::Head head{*order, cursor.shape};
        if (!first || ranking.goes_before(head, first->head)) first = First{head, &cursor};
    }
    return first;
}

// Whether the first of its line is known and in memory: its line may be listed by one who has left,
// and the jobs of a front that is known may have been let go.
bool ClaimLines::is_in_memory(const Fronts::Head& head) const {
    return state_.fronts.knows_first_of(head.shape) && state_.loaded(head.order.job);
}

// Reads a line, and with it those that come soon. False: the group has read enough.
bool ClaimLines::read_on(const Fronts::Head& first) {
    auto& fronts = state_.fronts;
    const auto room = std::min(lines_read_max - state_.lines_read, lines_ahead_max);
    if (room == 0 || state_.rows.has_loaded_enough()) return false;
    std::vector<LineQuery> queries;
    const auto query = [&](ShapeId id) {
        queries.push_back(
            {.shape = id, .behind = fronts.read_from(id), .max = fronts.read_max(wanted_.of_line)});
    };
    query(first.shape);
    for (const auto& head :
         fronts.ranking().soon(session_.offer, std::min(room, std::max(wanted_.jobs, 1U)))) {
        if (queries.size() == room) break;
        if (head.shape != first.shape && !is_in_memory(head)) query(head.shape);
    }
    state_.lines_read += static_cast<std::uint32_t>(queries.size());
    auto parts = read_lines(state_, queries, fronts.load_max());
    for (std::size_t i = 0; i < parts.size(); ++i) take_front(queries[i].shape, parts[i]);
    return true;
}

std::optional<ClaimLines::First> ClaimLines::first() {
    for (;;) {
        auto found = first_listed();
        if (!found || found->cursor || is_in_memory(found->head)) return found;
        are_read_ = read_on(found->head);
        if (!are_read_) return std::nullopt;
    }
}

void ClaimLines::skip(const First& first) {
    reached<"claim_skipped_for_another_worker">();
    if (first.cursor) {
        auto& skipped = first.cursor->skipped;
        skipped = skipped ? std::max(*skipped, first.head.order) : first.head.order;
        return;
    }
    state_.fronts.hide(first.head.shape);
    cursors_.push_back({.shape = first.head.shape, .skipped = first.head.order});
}

// A line of which nobody is counted may be listed by one who has left: that one is read.
bool ClaimLines::is_any_listed() {
    while (const auto head = state_.fronts.ranking().first(session_.offer)) {
        const auto jobs = state_.shapes.count(head->shape, JobState::ready);
        if (jobs > 0 || is_in_memory(*head) || !read_on(*head)) return true;
    }
    return false;
}

bool ClaimLines::is_in_unread(const std::string& tenant) const {
    const auto& unread = state_.fronts.unread(tenant);
    return std::any_of(unread.begin(), unread.end(), [&](ShapeId id) {
        return may_take_from(id) && state_.shapes.count(id, JobState::ready) > 0;
    });
}

bool ClaimLines::is_any_left() {
    if (!are_read_ || is_any_listed()) return true;
    const auto& others = session_.offer.other_tenants;
    const bool waits = is_in_unread(session_.offer.tenant) ||
                       std::any_of(others.begin(), others.end(),
                                   [&](const auto& tenant) { return is_in_unread(tenant); });
    if (waits) return true;
    note_promoted();
    return std::any_of(cursors_.begin(), cursors_.end(), [&](const Cursor& cursor) {
        if (!cursor.came_back.empty()) return true;
        if (!cursor.skipped) return state_.shapes.count(cursor.shape, JobState::ready) > 0;
        const auto max = cursor.is_damaged ? ahead_max : 1;
        return !read_line(state_, cursor.shape, cursor.skipped, max).jobs.empty();
    });
}

void ClaimLines::show_skipped() {
    for (const auto& cursor : cursors_) state_.fronts.show(cursor.shape);
}

}  // namespace perdure::store
