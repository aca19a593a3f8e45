// Who gets what next: order, turns, admission (O3, C4, E6, E7).
#pragma once

#include <tuple>

#include "tests/contract/reference/attempts.h"

namespace perdure::reference {

struct Claims : Attempts {
    using Attempts::apply;

    // One that has come since the last claim stands at the turn.
    static Line line_of(const Lines& lines, const std::string& name) {
        const auto* known = find_in(lines.of, name);
        return known ? *known : Line{.tag = lines.turn};
    }

    // E7: a claim sets the tag of its line to min(max(tag, turn) + 1/weight, turn + 1), the turn
    // being the lowest tag that waits. An empty line keeps its tag until the turn has passed it.
    static void charge(Lines& lines, const std::set<std::string>& waiting, const std::string& name,
                       std::int64_t weight) {
        for (const auto& other : waiting) lines.of.emplace(other, line_of(lines, other));
        lines.turn = lines.of.at(name).tag;
        for (const auto& other : waiting) lines.turn = std::min(lines.turn, lines.of[other].tag);
        for (auto& [other, line] : lines.of)
            if (!waiting.contains(other) && line.tag < lines.turn) line = {.tag = lines.turn};

        auto& [tag, served, claims] = lines.of.at(name);
        const auto step = Turns::one * (claims + 1) / weight - Turns::one * claims / weight;
        tag = std::min(std::max(tag, lines.turn) + step, lines.turn + Turns::one);
        claims = (claims + 1) % weight;
        ++lines.served;
        if (claims == 0) served = lines.served;
    }

    void charge(const JobSpec& spec) {
        std::set<std::string> waiting_queues;
        std::set<std::string> waiting_shares;
        for (const auto& [id, job] : jobs) {
            if (job.state != JobState::ready || job.spec->tenant != spec.tenant) continue;
            if (!is_paused(job)) waiting_queues.insert(job.spec->queue);
            if (job.spec->queue == spec.queue) waiting_shares.insert(job.spec->share);
        }
        charge(queues[spec.tenant], waiting_queues, spec.queue, weights.of(spec.queue));
        charge(shares[{spec.tenant, spec.queue}], waiting_shares, spec.share, 1);
    }

    // What the session could take and has not skipped, in claim order.
    std::vector<Job*> line_for(const Session& session, const std::set<JobId>& skipped) {
        const auto rank_of = [&](const Job& job) {
            const auto& spec = *job.spec;
            const auto of_queue = line_of(queues[spec.tenant], spec.queue);
            const auto of_share = line_of(shares[{spec.tenant, spec.queue}], spec.share);
            return std::tuple{spec.priority, !job.is_first,   of_queue.tag, of_queue.served,
                              of_share.tag,  of_share.served, job.since,    job.id};
        };
        std::vector<Job*> line;
        for (auto& [id, job] : jobs) {
            if (job.state != JobState::ready || is_paused(job) || skipped.contains(id)) continue;
            if (matches(session.offer, job.shape())) line.push_back(&job);
        }
        std::sort(line.begin(), line.end(),
                  [&](const Job* a, const Job* b) { return rank_of(*a) < rank_of(*b); });
        return line;
    }

    // Whether it makes sense to wait for another worker: one that lives and takes such jobs.
    bool another_could_take(const Job& job, const Session& session) const {
        return std::any_of(sessions.begin(), sessions.end(), [&](const auto& entry) {
            const Session& other = entry.second;
            return other.open && other.slots > 0 && !other.hearing.is_deaf() &&
                   now() < other.lease_deadline && matches(other.offer, job.shape()) &&
                   !other.directory.same_place(session.directory);
        });
    }

    AdmissionDecision admission(const Job& job, const Session& session) const {
        const auto* avoided = job.avoid ? find_in(sessions, *job.avoid) : nullptr;
        AdmissionFacts facts{
            .avoids_this_worker = avoided && now() < job.avoid_until &&
                                  avoided->directory.same_place(session.directory) &&
                                  another_could_take(job, session),
            .permits = {},
            .session_is_empty = runs_of(session.session).empty()};
        const auto* last = job.history.empty() ? nullptr : &job.history.back();
        if (last && last->generation == job.generation && is_suspect(last->end))
            facts.suspect_for = now() - job.since;
        for (const auto& permit : job.permits()) facts.permits.push_back(facts_of(permit, job.id));
        return decide_admission(facts, timing);
    }

    static std::vector<Input> inputs_of(const Job& job) {
        std::vector<Input> inputs;
        for (const auto& awaited : job.awaited)
            if (awaited.ended) inputs.push_back(*awaited.ended);
        return within_limit(std::move(inputs));
    }

    // What earlier attempts have left to the newest.
    static std::string checkpoint_for(const Job& job) {
        std::string newest;
        for (const auto& attempt : job.history)
            if (attempt.epoch != job.epoch && attempt.checkpoint) newest = *attempt.checkpoint;
        return job.spec->effects == Effects::once ? "" : newest;  // that begins anew, if ever
    }

    static Assignment assignment_of(const Job& job) {
        const Attempt& newest = job.history.back();
        return {.attempt = {job.id, job.epoch},
                .number = newest.assignment,
                .terms = newest.terms,
                .spec = job.spec,
                .checkpoint = checkpoint_for(job),
                .inputs = inputs_of(job)};
    }

    void admit(Job& job, SessionId session) {
        for (const auto& permit : job.permits()) {
            if (facts_of(permit, job.id).held_by_this_job) continue;
            std::uint32_t slot = 1;
            while (holders.contains({permit, slot})) ++slot;
            holders[{permit, slot}] = job.id;
        }
        charge(*job.spec);
        job.epoch = job.epoch.next();
        job.presumed_lost = false;
        Attempt attempt;
        attempt.epoch = job.epoch;
        attempt.generation = job.generation;
        attempt.terms = decide_terms({.effects = job.spec->effects,
                                      .holds_key_or_limit = job.spec->needs_holders(),
                                      .hold = job.spec->hold},
                                     timing);
        attempt.claimed_at = now();
        attempt.claimed_on = wall;
        attempt.confirm_deadline = now() + timing.confirm;
        hand_over(attempt, session);
        job.history.push_back(attempt);
        move(job, JobState::starting);
    }

    ChangeReply apply(const Claim& change) {
        const auto* session = find_in(sessions, change.session);
        if (!session) return refuse(Errc::not_found);
        ClaimantFacts facts{.session_is_open = session->open,
                            .stream_is_current = session->stream == change.stream,
                            .hearing = session->hearing,
                            .lease_deadline = session->lease_deadline,
                            .heard_at = session->heard_at,
                            .clock = clock};
        const auto runs = runs_of(change.session);
        for (const auto id : runs) {
            const Attempt& attempt = jobs.at(id).history.back();
            if (jobs.at(id).state != JobState::starting) continue;
            facts.starting = true;
            if (attempt.recalled || attempt.confirm_deadline <= now())
                facts.unconfirmed_start = true;
        }
        const auto decision = decide_claimant(facts, timing);
        const bool is_gone = !facts.session_is_open || !facts.stream_is_current;
        if (!decision.allowed) return is_gone ? refuse(Errc::fenced) : refuse(Errc::conflict);

        const auto used = static_cast<std::uint32_t>(runs.size());
        const auto free = session->slots - std::min(session->slots, used);
        const auto wanted = std::min({change.max, decision.max, free});
        Claimed claimed;
        std::set<JobId> skipped;
        while (claimed.assignments.size() < wanted) {
            const auto line = line_for(*session, skipped);
            if (line.empty()) break;
            Job& job = *line.front();
            const auto [kind, blocked_on, rule] = admission(job, *session);
            if (kind == AdmissionDecision::Kind::skip) skipped.insert(job.id);
            if (kind == AdmissionDecision::Kind::block) {
                move(job, JobState::blocked);
                job.blocked_on = blocked_on;
            }
            if (kind == AdmissionDecision::Kind::admit) {
                admit(job, change.session);
                claimed.assignments.push_back(assignment_of(job));
            }
        }
        claimed.left = line_for(*session, skipped).size();
        if (!claimed.assignments.empty())
            note_hearing(change.session, HearingFacts::Event::claimed, JobId{});
        return {std::move(claimed)};
    }
};

}  // namespace perdure::reference
