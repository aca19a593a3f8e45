// Claim: in claim order, over the shapes that the session can take (C4, E6, E7).
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/probe.h"
#include "base/zoo.h"
#include "store/engine/apply/apply.h"
#include "store/engine/apply/attempts.h"
#include "store/engine/apply/claim_size.h"
#include "store/engine/apply/ending.h"
#include "store/engine/apply/line_parts.h"
#include "store/engine/apply/moves.h"
#include "store/engine/rows/history.h"

namespace perdure::store {
namespace {

// A claim that meets a long line of jobs behind one key moves them away a piece at a time; so many
// jobs it looks at and does not take.
constexpr std::uint32_t passed_over_max = 1'000;
constexpr std::uint32_t ahead_max = 1'000;
// Lines whose fronts one group reads beyond the jobs that it takes: after a start none of them is
// known (C8).
constexpr std::uint32_t lines_read_max = 1'000;

// A line that this claim reads by itself: it has skipped a job there, or a row is damaged.
struct Cursor {
    ShapeId shape = 0;
    std::optional<ClaimOrder> skipped;
    std::set<ClaimOrder> came_back;  // ahead of it, since then
    bool is_damaged = false;
    LinePart ahead;  // read, and from `next` on not yet looked at
    std::size_t next = 0;
};

class Claiming {
public:
    Claiming(State& state, const SessionRow& session, std::uint32_t wanted)
        : state_(state), session_(session), wanted_(wanted), promoted_(state.promoted.size()) {
        read_damaged(session.offer.tenant);
        for (const auto& tenant : session.offer.other_tenants) read_damaged(tenant);
    }

    Claimed run();

private:
    struct First {
        Fronts::Head head;
        Cursor* cursor = nullptr;  // empty if the line is read by nobody apart
    };

    bool may_take_from(ShapeId id) const;
    void read_apart(ShapeId id);
    void read_damaged(const std::string& tenant) {
        for (const auto id : state_.fronts.damaged(tenant)) read_apart(id);
    }
    // How many of a line: more and more while it takes none of them.
    std::uint32_t read_wanted() const { return std::max(wanted_, passed_over_); }
    bool read_fronts(const std::string& tenant);
    bool read_all_fronts();
    bool is_in_unread(const std::string& tenant) const;
    void take_front(ShapeId id, LinePart& part);
    void note_promoted();
    const ClaimOrder* head_of(Cursor& cursor);
    static void take_head(Cursor& cursor);
    std::optional<First> first();
    std::optional<First> first_in_memory();
    bool is_any_left();
    void skip(const First& first);
    void show_skipped();
    bool another_could_take(const JobRow& job) const;
    AdmissionFacts admission_facts(const JobRow& job) const;
    void look(const JobRow& job, const AdmissionDecision& decision);
    Assignment admit(JobRow& job);

    State& state_;
    const SessionRow& session_;
    std::uint32_t wanted_;
    std::uint32_t passed_over_ = 0;
    std::vector<Cursor> cursors_;
    std::size_t promoted_ = 0;  // how many of them are known here
    bool are_fronts_read_ = true;
    ClaimSize size_;
    mutable std::map<ShapeId, bool> others_;  // another_could_take()
};

bool Claiming::may_take_from(ShapeId id) const {
    const auto& shape = state_.shapes.shape(id);
    if (!matches(session_.offer, shape)) return false;
    // A whole line that stands still: admission would skip each job of it.
    return !state_.shapes.is_paused(shape.tenant, shape.queue) || zoo(Bug::paused_queue_is_claimed);
}

// Its front cannot be kept.
void Claiming::read_apart(ShapeId id) {
    if (may_take_from(id)) cursors_.push_back({.shape = id, .is_damaged = true});
}

// Those of the tenant: what one worker cannot take is what the next one asks for. False: there are
// more than one group should read. Then nobody knows who is first, and nobody is taken.
bool Claiming::read_fronts(const std::string& tenant) {
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
                               .max = fronts.read_max(read_wanted())});
        auto parts = read_lines(state_, queries);
        for (std::size_t i = 0; i < parts.size(); ++i) take_front(queries[i].shape, parts[i]);
    }
    return true;
}

bool Claiming::read_all_fronts() {
    return read_fronts(session_.offer.tenant) &&
           std::ranges::all_of(session_.offer.other_tenants,
                               [&](const auto& tenant) { return read_fronts(tenant); });
}

void Claiming::take_front(ShapeId id, LinePart& part) {
    if (!part.is_damaged) return state_.fronts.read(id, std::move(part.jobs), part.is_all);
    state_.fronts.note_damaged(id);
    read_apart(id);
}

// Somebody came back into a line: what was read ahead may not be its front any more, and may begin
// behind it.
void Claiming::note_promoted() {
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

const ClaimOrder* Claiming::head_of(Cursor& cursor) {
    auto& [shape, skipped, came_back, is_damaged, ahead, next] = cursor;
    if (!came_back.empty()) return &*came_back.begin();
    while (next == ahead.jobs.size() && !ahead.is_all) {
        const auto max = is_damaged ? ahead_max : state_.fronts.read_max(read_wanted());
        ahead = read_line(state_, shape, skipped, max);
        next = 0;
        // If there are so many that cannot be understood, more are read: they must not hide the
        // rest.
        if (is_damaged || !ahead.is_damaged) break;
        is_damaged = true;
    }
    return next == ahead.jobs.size() ? nullptr : &ahead.jobs[next];
}

void Claiming::take_head(Cursor& cursor) {
    if (cursor.came_back.empty())
        ++cursor.next;
    else
        cursor.came_back.erase(cursor.came_back.begin());
}

// The first of all lines.
std::optional<Claiming::First> Claiming::first() {
    are_fronts_read_ = read_all_fronts();
    if (!are_fronts_read_) return std::nullopt;
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

// A front may be known whose jobs were let go; then it is read again, which loads all of them.
std::optional<Claiming::First> Claiming::first_in_memory() {
    for (;;) {
        auto found = first();
        if (!found || found->cursor || state_.loaded(found->head.order.job)) return found;
        state_.fronts.forget_front(found->head.shape);
    }
}

void Claiming::skip(const First& first) {
    reached<"claim_skipped_for_another_worker">();
    if (first.cursor) {
        auto& skipped = first.cursor->skipped;
        skipped = skipped ? std::max(*skipped, first.head.order) : first.head.order;
        return;
    }
    state_.fronts.hide(first.head.shape);
    cursors_.push_back({.shape = first.head.shape, .skipped = first.head.order});
}

bool Claiming::is_in_unread(const std::string& tenant) const {
    const auto& unread = state_.fronts.unread(tenant);
    return std::any_of(unread.begin(), unread.end(), [&](ShapeId id) {
        return may_take_from(id) && state_.shapes.count(id, JobState::ready) > 0;
    });
}

bool Claiming::is_any_left() {
    if (!are_fronts_read_ || state_.fronts.ranking().first(session_.offer)) return true;
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

void Claiming::show_skipped() {
    for (const auto& cursor : cursors_) state_.fronts.show(cursor.shape);
}

std::uint32_t free_slots(const State& state, const SessionRow& session) {
    auto used = static_cast<std::uint32_t>(state.runs_of(session.id).size());
    if (zoo(Bug::leaked_slot)) {
        const auto leaked = state.zoo_rows.leaked_slots.find(place_of(session.directory));
        if (leaked != state.zoo_rows.leaked_slots.end()) used += leaked->second;
    }
    return session.slots - std::min(session.slots, used);
}

bool has_starting(const State& state, const SessionRow& session) {
    if (!session.hearing.is_deaf()) return false;  // only then it matters
    const auto& runs = state.runs_of(session.id);
    return std::any_of(runs.begin(), runs.end(), [](const auto& entry) {
        return entry.second.run.state == JobState::starting;
    });
}

// Whether to wait for another worker makes sense: one that lives and takes such jobs. All jobs of a
// shape have the same answer, and there may be thousands of both.
bool Claiming::another_could_take(const JobRow& job) const {
    const auto [known, is_new] = others_.try_emplace(job.shape);
    if (!is_new) return known->second;
    const auto& shape = state_.shapes.shape(job.shape);
    known->second =
        std::any_of(state_.sessions().begin(), state_.sessions().end(), [&](const auto& entry) {
            const SessionRow& other = entry.second;
            return other.open && other.slots > 0 && !other.hearing.is_deaf() &&
                   state_.now() < other.lease_deadline &&
                   !other.directory.same_place(session_.directory) && matches(other.offer, shape);
        });
    return known->second;
}

AdmissionFacts Claiming::admission_facts(const JobRow& job) const {
    const auto& stay = job.in<Ready>()->stay;
    const auto& avoid = stay.avoid;
    const auto* avoided = avoid ? state_.session(avoid->session) : nullptr;
    AdmissionFacts facts;
    if (job.is_suspected()) facts.suspect_for = state_.now() - stay.order.since;
    facts.session_is_empty = state_.runs_of(session_.id).empty();
    facts.avoids_this_worker = avoided && state_.now() < avoid->until &&
                               avoided->directory.same_place(session_.directory) &&
                               another_could_take(job);
    for (const auto& thing : job.things) {
        const bool held = state_.holders.is_held_by(thing, job.id);
        facts.things.push_back({.thing = thing,
                                .taken = state_.holders.taken(thing) - (held ? 1 : 0),
                                .max = state_.holders.max(thing),
                                .held_by_this_job = held});
    }
    return facts;
}

void Claiming::look(const JobRow& job, const AdmissionDecision& decision) {
    using Kind = AdmissionDecision::Kind;
    if (decision.kind == Kind::admit) look_at_things(state_, job);
    if (decision.kind == Kind::block) look_at_things_before_blocking(state_, job);
}

Assignment Claiming::admit(JobRow& job) {
    AttemptRow attempt{.epoch = job.epoch,
                       .generation = job.generation,
                       .owners = {session_.id},
                       .claimed_at = state_.now(),
                       .claimed_on = state_.service.wall};
    if (!zoo(Bug::epoch_not_raised) || job.epoch == Epoch{}) attempt.epoch = job.epoch.next();
    attempt.terms = decide_terms({.effects = job.spec->effects,
                                  .holds_key_or_limit = !job.things.empty(),
                                  .hold = job.spec->hold},
                                 state_.timing);
    const auto left = left_to(state_, job, attempt);
    Assignment assignment{.attempt = {job.id, attempt.epoch},
                          .terms = attempt.terms,
                          .spec = job.spec,
                          .checkpoint = checkpoint_for(state_.job_rows(), job, attempt.epoch, left),
                          .inputs = inputs_of(state_.relations, job)};

    for (const auto& thing : job.things)
        if (!state_.holders.is_held_by(thing, job.id)) state_.holders.take(thing, job.id);
    if (!job.attempts.empty()) job.attempts.back().unsaved = true;  // it is history from now on
    job.epoch = attempt.epoch;
    job.presumed_lost.reset();
    job.earlier = left;
    attempt.assignment = assignment.number = state_.draw_assignment(session_.id);
    state_.fronts.ranking().charge(job.shape);
    job.attempts.push_back(std::move(attempt));
    move(state_, job,
         Run{.epoch = job.epoch,
             .session = session_.id,
             .assignment = assignment.number,
             .state = JobState::starting,
             .confirm_deadline = state_.now() + state_.timing.confirm});
    return assignment;
}

Claimed Claiming::run() {
    using Kind = AdmissionDecision::Kind;
    Claimed claimed;
    state_.rows.allow_some();
    while (wanted_ > 0 && passed_over_ < passed_over_max && !size_.is_reached()) {
        state_.rows.begin_step();
        const auto found = first_in_memory();
        if (!found) break;
        JobRow& job = state_.job_that_exists(found->head.order.job);
        const auto decision = decide_admission(admission_facts(job), state_.timing);
        look(job, decision);
        if (found->cursor) take_head(*found->cursor);
        switch (decision.kind) {
            case Kind::admit:
                claimed.assignments.push_back(admit(job));
                size_.note_taken(job.shape);
                --wanted_;
                if (state_.lines_read > 0) --state_.lines_read;
                break;
            case Kind::skip:
                ++passed_over_;
                skip(*found);
                break;
            case Kind::block:
                ++passed_over_;
                reached<"claim_blocked">();
                move(state_, job, Blocked{job.in<Ready>()->stay, decision.blocked_on});
                break;
        }
    }
    state_.rows.begin_step();
    // If slots are free, and it has seen all that it could take, there is nothing left of that.
    const bool has_seen_all =
        wanted_ > 0 && passed_over_ < passed_over_max && are_fronts_read_ && !size_.is_reached();
    claimed.left = !has_seen_all && is_any_left() ? 1 : 0;
    const bool is_cut = passed_over_ == passed_over_max || claimed.left > 0;
    claimed.unfinished = wanted_ > 0 && !has_seen_all && is_cut;
    show_skipped();
    return claimed;
}

}  // namespace

ChangeReply apply(State& state, const Claim& change) {
    const SessionRow* session = state.session(change.session);
    if (!session) return error(Errc::not_found, "there is no such session");
    ClaimantFacts facts{.session_is_open = session->open,
                        .stream_is_current = session->stream == change.stream,
                        .heard_in_this_life = !state.unheard.contains(change.session),
                        .unconfirmed_start = state.has_unconfirmed_start(session->id),
                        .starting = has_starting(state, *session),
                        .hearing = session->hearing,
                        .lease_deadline = session->lease_deadline,
                        .heard_at = session->heard_at,
                        .clock = state.service.clock};
    if (zoo(Bug::older_stream_may_claim)) facts.stream_is_current = true;
    const auto decision = decide_claimant(facts, state.timing);
    if (!decision.allowed) {
        const bool gone = !facts.session_is_open || !facts.stream_is_current;
        return error(gone ? Errc::fenced : Errc::conflict, std::string(decision.rule));
    }
    const auto wanted = std::min({change.max, decision.max, free_slots(state, *session)});
    auto claimed = Claiming(state, *session, wanted).run();
    if (!claimed.assignments.empty())
        note_hearing(state, change.session, HearingFacts::Event::claimed, JobId{});
    return {std::move(claimed)};
}

}  // namespace perdure::store
