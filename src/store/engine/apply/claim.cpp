// Claim: in claim order, over the shapes that the session can take (C4, E6).
#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "base/probe.h"
#include "base/zoo.h"
#include "store/engine/apply/apply.h"
#include "store/engine/apply/ending.h"
#include "store/engine/apply/moves.h"
#include "store/engine/rows/history.h"

namespace perdure::store {
namespace {

// A claim that meets a long line of jobs behind one key moves them away a piece at a time.
constexpr std::uint32_t looked_at_max = 1'000;
constexpr std::uint32_t ahead_min = 8;
constexpr std::uint32_t ahead_max = 1'000;

// A job that is not in memory is loaded with its row. One that cannot be understood is left where
// it is: it must not stop those behind it.
const Ready* look_at(State& state, JobId id, std::uint64_t read_as,
                     const LineReader::LoadRow& load_row) {
    const auto load = [&]() -> const Ready* {
        JobRow* known = state.loaded(id);
        JobRow& job = known ? *known : state.add_ready(id, load_row);
        state.lines_are_in_memory = known != nullptr;
        const auto* ready = job.in<Ready>();
        if (!ready) fail_corrupt("job " + id.text() + " is listed as ready");
        job.read_as = read_as;
        return ready;
    };
    return state.book.unless_damaged(load, [&] { return damaged_job(id); }).value_or(nullptr);
}

// The front of a line, and whether there may be more behind it.
std::pair<std::vector<ClaimOrder>, bool> line_after(State& state, ShapeId shape,
                                                    const std::optional<ClaimOrder>& skipped,
                                                    std::uint32_t max) {
    std::vector<ClaimOrder> found;
    found.reserve(max);
    auto& lines = state.lines();
    // If there are so many that cannot be understood, more are read: they must not hide the rest.
    if (state.book.isolated() > 0 || state.has_damaged_lines) max = ahead_max;
    // Lines mostly go on as they were: what was in memory, or was not, will be so next time.
    const LineQuery query{shape, skipped, max, state.lines_are_in_memory};
    const auto take = [&](JobId id, std::uint64_t read_as, const LineReader::LoadRow& load) {
        if (const auto* ready = look_at(state, id, read_as, load))
            found.push_back(ready->stay.order);
    };
    const auto rows = lines.read_line(query, take);
    if (found.size() < rows) state.has_damaged_lines = true;
    return {std::move(found), rows == max};
}

// One shape's line, and how far this claim has skipped into it.
struct Cursor {
    ShapeId shape = 0;
    std::optional<ClaimOrder> skipped;
    std::vector<ClaimOrder> ahead;  // read, and from `next` on not yet looked at
    std::size_t next = 0;
    bool is_all = false;  // there is nothing behind them
};

class Claiming {
public:
    Claiming(State& state, const SessionRow& session, std::uint32_t wanted)
        : state_(state), session_(session), wanted_(wanted) {
        promoted_ = state.promoted;
        for (const auto id : state.shapes.ready()) {
            const auto& shape = state.shapes.shape(id);
            // A whole line that stands still: admission would skip each job of it.
            const bool paused = state.shapes.is_paused(shape.tenant, shape.queue);
            const bool stands_still = paused && !zoo(Bug::paused_queue_is_claimed);
            if (matches(session.offer, shape) && !stands_still) cursors_.push_back({.shape = id});
        }
    }

    Claimed run();

private:
    const ClaimOrder* head_of(Cursor& cursor);
    std::pair<Cursor*, const ClaimOrder*> first();
    std::size_t count_left();
    bool another_could_take(const JobRow& job) const;
    AdmissionFacts admission_facts(const JobRow& job) const;
    Assignment admit(JobRow& job);

    State& state_;
    const SessionRow& session_;
    std::uint32_t wanted_;
    std::vector<Cursor> cursors_;
    std::uint64_t promoted_ = 0;
};

const ClaimOrder* Claiming::head_of(Cursor& cursor) {
    if (cursor.next == cursor.ahead.size() && !cursor.is_all) {
        const auto max = std::clamp(wanted_, ahead_min, ahead_max);
        bool is_more = false;
        std::tie(cursor.ahead, is_more) = line_after(state_, cursor.shape, cursor.skipped, max);
        cursor.next = 0;
        cursor.is_all = !is_more;
    }
    return cursor.next == cursor.ahead.size() ? nullptr : &cursor.ahead[cursor.next];
}

// The first of all lines.
std::pair<Cursor*, const ClaimOrder*> Claiming::first() {
    if (promoted_ != state_.promoted) {
        // Somebody came back into a line: what was read ahead may not be its front any more.
        promoted_ = state_.promoted;
        for (auto& cursor : cursors_) {
            cursor.ahead.clear();
            cursor.next = 0;
            cursor.is_all = false;
        }
    }
    std::pair<Cursor*, const ClaimOrder*> first{nullptr, nullptr};
    for (auto& cursor : cursors_) {
        const auto* head = head_of(cursor);
        if (head && (!first.second || *head < *first.second)) first = {&cursor, head};
    }
    return first;
}

std::size_t Claiming::count_left() {
    std::size_t left = 0;
    for (auto& cursor : cursors_) {
        if (!cursor.skipped) {
            left += state_.shapes.count(cursor.shape, JobState::ready);
        } else {
            left += line_after(state_, cursor.shape, cursor.skipped, ahead_min).first.size();
        }
    }
    return left;
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
    return std::any_of(runs.begin(), runs.end(),
                       [](const auto& entry) { return entry.second.state == JobState::starting; });
}

// Whether to wait for another worker makes sense: one that lives and takes such jobs.
bool Claiming::another_could_take(const JobRow& job) const {
    const auto& shape = state_.shapes.shape(job.shape);
    return std::any_of(state_.sessions().begin(), state_.sessions().end(), [&](const auto& entry) {
        const SessionRow& other = entry.second;
        return other.open && other.slots > 0 && !other.hearing.is_deaf() &&
               state_.now() < other.lease_deadline &&
               !other.directory.same_place(session_.directory) && matches(other.offer, shape);
    });
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

Assignment Claiming::admit(JobRow& job) {
    for (const auto& thing : job.things)
        if (!state_.holders.is_held_by(thing, job.id)) state_.holders.take(thing, job.id);

    if (!job.attempts.empty()) job.attempts.back().unsaved = true;  // it is history from now on
    if (!zoo(Bug::epoch_not_raised) || job.epoch == Epoch{}) job.epoch = job.epoch.next();
    job.presumed_lost.reset();
    AttemptRow attempt{.epoch = job.epoch,
                       .generation = job.generation,
                       .assignment = state_.draw_assignment(session_.id),
                       .owners = {session_.id},
                       .claimed_at = state_.now(),
                       .claimed_on = state_.service.wall};
    attempt.terms = decide_terms({.effects = job.spec->effects,
                                  .holds_key_or_limit = !job.things.empty(),
                                  .hold = job.spec->hold},
                                 state_.timing);
    Assignment assignment{.attempt = {job.id, job.epoch},
                          .number = attempt.assignment,
                          .terms = attempt.terms,
                          .spec = job.spec};
    job.attempts.push_back(std::move(attempt));
    move(state_, job,
         Run{.epoch = job.epoch,
             .session = session_.id,
             .assignment = assignment.number,
             .state = JobState::starting,
             .confirm_deadline = state_.now() + state_.timing.confirm});
    assignment.checkpoint = checkpoint_before(state_.job_rows(), job, job.epoch);
    assignment.inputs = inputs_of(state_.relation_rows(), job);
    return assignment;
}

Claimed Claiming::run() {
    using Kind = AdmissionDecision::Kind;
    Claimed claimed;
    std::uint32_t looked = 0;
    for (; wanted_ > 0 && looked < looked_at_max; ++looked) {
        const auto [cursor, head] = first();
        if (!head) break;
        JobRow& job = state_.job_that_exists(head->job);
        const auto decision = decide_admission(admission_facts(job), state_.timing);
        if (decision.kind == Kind::skip) cursor->skipped = *head;
        ++cursor->next;
        switch (decision.kind) {
            case Kind::admit:
                claimed.assignments.push_back(admit(job));
                --wanted_;
                break;
            case Kind::skip: reached<"claim_skipped_for_another_worker">(); break;
            case Kind::block:
                reached<"claim_blocked">();
                move(state_, job, Blocked{job.in<Ready>()->stay, decision.blocked_on});
                break;
        }
    }
    claimed.left = count_left();
    claimed.unfinished = wanted_ > 0 && looked == looked_at_max;
    return claimed;
}

}  // namespace

ChangeReply apply(State& state, const Claim& change) {
    const SessionRow* session = state.session(change.session);
    if (!session) return error(Errc::not_found, "there is no such session");
    ClaimantFacts facts{.session_is_open = session->open,
                        .stream_is_current = session->stream == change.stream,
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
