// Claim: in claim order, over the shapes that the session can take (C4, E6, E7).
#include <algorithm>
#include <tuple>
#include <vector>

#include "tests/contract/reference/apply.h"
#include "tests/contract/reference/ending.h"
#include "tests/contract/reference/relations/relations.h"

namespace perdure::reference {
namespace {

// A claim that meets a long line of jobs behind one key moves them away a piece at a time.
constexpr std::uint32_t looked_at_max = 1'000;

// One shape's line, and how far this claim has skipped into it.
struct Cursor {
    Shape shape;
    std::optional<ClaimOrder> skipped;
};

const ClaimOrder* head_of(const State& state, const Cursor& cursor) {
    const auto line = state.places.ready().find(cursor.shape);
    if (line == state.places.ready().end()) return nullptr;
    const auto head =
        cursor.skipped ? line->second.upper_bound(*cursor.skipped) : line->second.begin();
    return head == line->second.end() ? nullptr : &*head;
}

std::vector<Cursor> lines_for(const State& state, const Offer& offer) {
    std::vector<Cursor> cursors;
    const auto& ready = state.places.ready();
    for (auto it = ready.lower_bound(Shape{.tenant = offer.tenant});
         it != ready.end() && it->first.tenant == offer.tenant; ++it) {
        if (!matches(offer, it->first)) continue;
        // The whole line stands still: admission would skip each job of it.
        const bool paused = state.paused_queues.contains({it->first.tenant, it->first.queue});
        if (paused) continue;
        cursors.push_back({it->first, std::nullopt});
    }
    return cursors;
}

auto rank_of(const State& state, const Shape& shape, const ClaimOrder& head) {
    const auto& queue = state.turns.at(shape.tenant).queues.at(shape.queue);
    return std::tuple{head.priority,   head.behind_the_first,
                      queue.turn.rank, queue.shares.at(shape.share).rank,
                      head.since,      head.job};
}

// The first of all lines.
std::pair<Cursor*, const ClaimOrder*> first_of(const State& state, std::vector<Cursor>& cursors) {
    std::pair<Cursor*, const ClaimOrder*> first{nullptr, nullptr};
    for (auto& cursor : cursors) {
        const auto* head = head_of(state, cursor);
        if (!head) continue;
        if (!first.second ||
            rank_of(state, cursor.shape, *head) < rank_of(state, first.first->shape, *first.second))
            first = {&cursor, head};
    }
    return first;
}

std::size_t count_left(const State& state, const std::vector<Cursor>& cursors) {
    std::size_t left = 0;
    for (const auto& cursor : cursors) {
        const auto line = state.places.ready().find(cursor.shape);
        if (line == state.places.ready().end()) continue;
        left += cursor.skipped ? static_cast<std::size_t>(std::distance(
                                     line->second.upper_bound(*cursor.skipped), line->second.end()))
                               : line->second.size();
    }
    return left;
}

bool has_unconfirmed_start(const State& state, SessionId session) {
    const auto& runs = state.places.runs_of(session);
    return std::any_of(runs.begin(), runs.end(), [&](const auto& entry) {
        const auto& run = *state.jobs.at(entry.second).template in<Run>();
        const bool late = run.recalled || run.confirm_deadline <= state.clock.now;
        return run.state == JobState::starting && late;
    });
}

bool has_starting(const State& state, const SessionRow& session) {
    if (!session.hearing.is_deaf()) return false;  // only then it matters
    const auto& runs = state.places.runs_of(session.id);
    return std::any_of(runs.begin(), runs.end(), [&](const auto& entry) {
        return state_of(state.jobs.at(entry.second)) == JobState::starting;
    });
}

std::uint32_t free_slots(const State& state, const SessionRow& session) {
    const auto used = static_cast<std::uint32_t>(state.places.runs_of(session.id).size());
    return session.slots - std::min(session.slots, used);
}

// Whether to wait for another worker makes sense: one that lives and takes such jobs.
bool another_could_take(const State& state, const JobRow& job, const SessionRow& session) {
    return std::any_of(state.sessions.begin(), state.sessions.end(), [&](const auto& entry) {
        const SessionRow& other = entry.second;
        return other.open && other.slots > 0 && !other.hearing.is_deaf() &&
               state.clock.now < other.lease_deadline &&
               !other.directory.same_place(session.directory) && matches(other.offer, job.shape);
    });
}

AdmissionFacts admission_facts(const State& state, const JobRow& job, const SessionRow& session) {
    const auto& stay = job.in<Ready>()->stay;
    const auto& avoid = stay.avoid;
    AdmissionFacts facts;
    if (job.is_suspected()) facts.suspect_for = state.clock.now - stay.order.since;
    facts.session_is_empty = state.places.runs_of(session.id).empty();
    facts.avoids_this_worker =
        avoid && state.clock.now < avoid->until &&
        state.session_of(avoid->session).directory.same_place(session.directory) &&
        another_could_take(state, job, session);
    for (const auto& thing : job.things) {
        const bool held = state.holders.is_held_by(thing, job.id);
        facts.things.push_back({.thing = thing,
                                .taken = state.holders.taken(thing) - (held ? 1 : 0),
                                .max = state.holders.max(thing),
                                .held_by_this_job = held});
    }
    return facts;
}

Assignment admit(State& state, JobRow& job, SessionRow& session) {
    for (const auto& thing : job.things)
        if (!state.holders.is_held_by(thing, job.id)) state.holders.take(thing, job.id);

    job.epoch = job.epoch.next();
    job.presumed_lost.reset();
    AttemptRow attempt{.epoch = job.epoch,
                       .generation = job.generation,
                       .assignment = draw_assignment(session),
                       .owners = {session.id},
                       .claimed_at = state.clock.now,
                       .claimed_on = state.wall};
    attempt.terms = decide_terms({.effects = job.spec->effects,
                                  .holds_key_or_limit = !job.things.empty(),
                                  .hold = job.spec->hold},
                                 state.timing);
    charge(state, job.shape);
    job.attempts.push_back(attempt);
    move(state, job,
         Run{.epoch = job.epoch,
             .session = session.id,
             .assignment = attempt.assignment,
             .state = JobState::starting,
             .confirm_deadline = state.clock.now + state.timing.confirm});
    return {.attempt = {job.id, job.epoch},
            .number = attempt.assignment,
            .terms = attempt.terms,
            .spec = job.spec,
            .checkpoint = checkpoint_before(job, job.epoch),
            .inputs = inputs_of(job)};
}

Claimed claim(State& state, SessionRow& session, std::uint32_t max) {
    using Kind = AdmissionDecision::Kind;
    Claimed claimed;
    auto cursors = lines_for(state, session.offer);
    auto wanted = std::min(max, free_slots(state, session));
    std::uint32_t looked = 0;
    for (; wanted > 0 && looked < looked_at_max; ++looked) {
        const auto [cursor, head] = first_of(state, cursors);
        if (!head) break;
        JobRow& job = state.jobs.at(head->job);
        const auto decision = decide_admission(admission_facts(state, job, session), state.timing);
        switch (decision.kind) {
            case Kind::admit:
                claimed.assignments.push_back(admit(state, job, session));
                --wanted;
                break;
            case Kind::skip: cursor->skipped = *head; break;
            case Kind::block:
                move(state, job, Blocked{job.in<Ready>()->stay, decision.blocked_on});
                break;
        }
    }
    claimed.left = count_left(state, cursors);
    claimed.unfinished = wanted > 0 && looked == looked_at_max;
    return claimed;
}

}  // namespace

ChangeReply apply(State& state, const Claim& change) {
    SessionRow* session = state.session(change.session);
    if (!session) return error(Errc::not_found, "there is no such session");
    ClaimantFacts facts{.session_is_open = session->open,
                        .stream_is_current = session->stream == change.stream,
                        .unconfirmed_start = has_unconfirmed_start(state, session->id),
                        .starting = has_starting(state, *session),
                        .hearing = session->hearing,
                        .lease_deadline = session->lease_deadline,
                        .heard_at = session->heard_at,
                        .clock = state.clock};
    const auto decision = decide_claimant(facts, state.timing);
    if (!decision.allowed) {
        const bool gone = !facts.session_is_open || !facts.stream_is_current;
        return error(gone ? Errc::fenced : Errc::conflict, std::string(decision.rule));
    }
    auto claimed = claim(state, *session, std::min(change.max, decision.max));
    if (!claimed.assignments.empty())
        note_hearing(state, session->id, HearingFacts::Event::claimed, JobId{});
    return {std::move(claimed)};
}

}  // namespace perdure::reference
