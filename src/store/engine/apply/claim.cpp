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
#include "store/engine/apply/claim_lines.h"
#include "store/engine/apply/claim_size.h"
#include "store/engine/apply/ending.h"
#include "store/engine/apply/moves.h"
#include "store/engine/rows/history.h"

namespace perdure::store {
namespace {

// A claim that meets a long line of jobs behind one key moves them away a piece at a time; so many
// jobs it looks at and does not take.
constexpr std::uint32_t passed_over_max = 1'000;

class Claiming {
public:
    Claiming(State& state, const SessionRow& session, std::uint32_t wanted)
        : state_(state), session_(session), lines_(state, session), wanted_(wanted) {}

    Claimed run();

private:
    bool another_could_take(const JobRow& job) const;
    AdmissionFacts admission_facts(const JobRow& job) const;
    void preload(const JobRow& job, const AdmissionDecision& decision);
    Assignment admit(JobRow& job);

    State& state_;
    const SessionRow& session_;
    ClaimLines lines_;
    std::uint32_t wanted_;
    std::uint32_t passed_over_ = 0;
    ClaimSize size_;
    mutable std::map<ShapeId, bool> others_;  // another_could_take()
};

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
    const auto& entry = job.in<Ready>()->entry;
    const auto& avoid = entry.avoid;
    const auto* avoided = avoid ? state_.session(avoid->session) : nullptr;
    AdmissionFacts facts;
    if (job.is_suspected()) facts.suspect_for = state_.now() - entry.order.since;
    facts.session_is_empty = state_.runs_of(session_.id).empty();
    facts.avoids_this_worker = avoided && state_.now() < avoid->until &&
                               avoided->directory.same_place(session_.directory) &&
                               another_could_take(job);
    for (const auto& permit : job.permits) {
        const bool held = state_.holders.is_held_by(permit, job.id);
        facts.permits.push_back({.permit = permit,
                                 .taken = state_.holders.taken(permit) - (held ? 1 : 0),
                                 .max = state_.holders.max(permit),
                                 .held_by_this_job = held});
    }
    return facts;
}

void Claiming::preload(const JobRow& job, const AdmissionDecision& decision) {
    using Kind = AdmissionDecision::Kind;
    if (decision.kind == Kind::admit) preload_permits(state_, job);
    if (decision.kind == Kind::block) preload_permits_before_blocking(state_, job);
}

Assignment Claiming::admit(JobRow& job) {
    AttemptRow attempt{.epoch = job.epoch,
                       .generation = job.generation,
                       .owners = {session_.id},
                       .claimed_at = state_.now(),
                       .claimed_on = state_.service.wall};
    if (!zoo(Bug::epoch_not_raised) || job.epoch == Epoch{}) attempt.epoch = job.epoch.next();
    attempt.terms = decide_terms({.effects = job.spec->effects,
                                  .holds_key_or_limit = !job.permits.empty(),
                                  .hold = job.spec->hold},
                                 state_.timing);
    const auto left = left_to(state_, job, attempt);
    Assignment assignment{.attempt = {job.id, attempt.epoch},
                          .terms = attempt.terms,
                          .spec = job.spec,
                          .checkpoint = checkpoint_for(state_.job_rows(), job, attempt.epoch, left),
                          .inputs = inputs_of(state_.relations, job)};

    for (const auto& permit : job.permits)
        if (!state_.holders.is_held_by(permit, job.id)) state_.holders.take(permit, job.id);
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
        lines_.want({.jobs = wanted_, .of_line = std::max(wanted_, passed_over_)});
        const auto found = lines_.first();
        if (!found) break;
        JobRow& job = state_.job_that_exists(found->head.order.job);
        const auto decision = decide_admission(admission_facts(job), state_.timing);
        preload(job, decision);
        lines_.pass(*found);
        switch (decision.kind) {
            case Kind::admit:
                claimed.assignments.push_back(admit(job));
                size_.note_taken(job.shape);
                --wanted_;
                if (state_.lines_read > 0) --state_.lines_read;
                break;
            case Kind::skip:
                ++passed_over_;
                lines_.skip(*found);
                break;
            case Kind::block:
                ++passed_over_;
                reached<"claim_blocked">();
                move(state_, job, Blocked{job.in<Ready>()->entry, decision.blocked_on});
                break;
        }
    }
    state_.rows.begin_step();
    // If slots are free, and it has seen all that it could take, there is nothing left of that.
    const bool has_seen_all =
        wanted_ > 0 && passed_over_ < passed_over_max && lines_.are_read() && !size_.is_reached();
    claimed.left = !has_seen_all && lines_.is_any_left() ? 1 : 0;
    const bool is_cut = passed_over_ == passed_over_max || claimed.left > 0;
    claimed.unfinished = wanted_ > 0 && !has_seen_all && is_cut;
    lines_.show_skipped();
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
