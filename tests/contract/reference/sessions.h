// What a worker has, and what it should have: openings and heartbeats (O1, O5, O6), and what nobody
// vouches for any more (O2, O3).
#pragma once

#include "core/ownership/presence.h"
#include "tests/contract/reference/claims.h"

namespace perdure::reference {

struct Sessions : Claims {
    using Claims::apply;
    using ListedAttempts = std::map<AttemptKey, Listed>;
    using Strangers = std::map<AttemptKey, ReconcileDecision>;

    // If a worker lists an attempt twice, the first counts.
    static ListedAttempts by_attempt(const std::vector<Listed>& listed) {
        ListedAttempts found;
        for (const auto& entry : listed) found.emplace(entry.attempt, entry);
        return found;
    }
    static std::optional<Listed> entry_of(const ListedAttempts& listed, const Job& job) {
        const auto* entry = find_in(listed, {job.id, job.epoch});
        return entry ? std::optional(*entry) : std::nullopt;
    }

    StrangersJob stranger(JobId id, const StateDirectory& directory) const {
        const auto* job = find_in(jobs, id);
        if (!job) return {.gone = id.value <= std::max(given_ids, made_ids)};
        StrangersJob facts{.epoch = job->epoch,
                           .state = job->state,
                           .presumed_lost = job->presumed_lost,
                           .discarded = job->discarded,
                           .effects = job->spec->effects};
        if (job->history.empty()) return facts;
        const Attempt& newest = job->history.back();
        facts.isolation = newest.terms.isolation;
        facts.may_have_begun = !newest.terms.asks || newest.start_committed;
        facts.began_here = false;
        for (const auto owner : newest.owners)
            if (const auto* known = find_in(sessions, owner);
                known && known->directory == directory)
                facts.began_here = true;
        return facts;
    }

    // What is listed and not owned by this session. Empty: it shows that commits were lost.
    std::optional<Strangers> judge_strangers(const ListedAttempts& listed, SessionId owner,
                                             const StateDirectory& directory,
                                             std::uint64_t seen) const {
        Strangers strangers;
        for (const auto& [attempt, entry] : listed) {
            const auto* job = find_in(jobs, attempt.job);
            const bool is_owned = job && job->is_in_run() && job->epoch == attempt.epoch &&
                                  job->history.back().session == owner;
            if (is_owned) continue;
            const auto facts = stranger_facts(stranger(attempt.job, directory), entry, seen);
            strangers[attempt] = decide_reconcile(facts);
            if (strangers[attempt].kind == ReconcileDecision::Kind::store_is_behind) return {};
        }
        return strangers;
    }

    // Says what the worker must stop.
    std::vector<AttemptKey> bring_back(const Strangers& strangers, SessionId session,
                                       Sighting seen) {
        std::vector<AttemptKey> stopped;
        seen.detector = Detector::heartbeat;  // also at an opening: it is the list that shows it
        for (const auto& [attempt, decision] : strangers) {
            seen.rule = decision.rule;
            if (decision.kind == ReconcileDecision::Kind::stop) stopped.push_back(attempt);
            if (decision.kind == ReconcileDecision::Kind::reinstate)
                reinstate(jobs.at(attempt.job), session, seen);
        }
        return stopped;
    }

    // O5: each attempt of the previous session goes over to the new one, or ends.
    void inherit(SessionId previous, const ListedAttempts& on_disk, SessionOpened& opened) {
        const auto runs = runs_of(previous);
        for (const auto id : runs) {
            Job& job = jobs.at(id);
            Attempt& attempt = job.history.back();
            const auto [end, rule] =
                decide_inherit({.same_boot = opened.opening == Opening::take_over,
                                .listed = entry_of(on_disk, job),
                                .state = job.state,
                                .asks = attempt.terms.asks,
                                .clean = attempt.clean,
                                .alone = runs.size() == 1,
                                .kill_cause = attempt.kill_cause});
            auto seen = opened.seen;
            seen.rule = rule;
            if (end) {
                opened.ended.push_back({{id, job.epoch}, end_attempt(job, *end, nullptr, seen)});
                continue;
            }
            enter(job, previous, {.seen = seen});
            hand_over(attempt, opened.session);
            attempt.recalled = false;  // the new session may start it
            if (job.state == JobState::starting) attempt.confirm_deadline = now() + timing.confirm;
        }
    }

    // O5: of all lives of a directory, the latest that has opened a session.
    Session* latest_at(const StateDirectory& directory) {
        Session* latest = nullptr;
        for (auto& [id, session] : sessions)
            if (session.directory.same_place(directory) && (!latest || latest->life < session.life))
                latest = &session;
        return latest;
    }

    ChangeReply apply(const OpenSession& change) {
        if (sessions.contains(change.session)) return refuse(Errc::conflict);
        Session* previous = latest_at(change.directory);
        OpeningFacts facts{.life = change.life, .clock = clock};
        if (previous) {
            facts.has_previous = true;
            facts.same_boot = previous->directory.boot == change.directory.boot;
            facts.previous_life = previous->life;
            facts.previous_heard_at = previous->heard_at;
        }
        const auto decision = decide_opening(facts, timing);
        SessionOpened opened{.session = change.session, .opening = decision.opening};
        if (decision.opening == Opening::stale) return refuse(Errc::fenced);
        if (decision.opening == Opening::clone) return refuse(Errc::conflict);
        if (decision.opening == Opening::repeated) {
            opened.session = previous->session;
            return {opened};
        }
        const auto on_disk = by_attempt(change.on_disk);
        const auto owner = previous ? previous->session : SessionId{};
        const auto strangers = judge_strangers(on_disk, owner, change.directory, 0);
        opened.store_is_behind = !strangers;
        if (!strangers) return {opened};
        Session& session = sessions[change.session];
        session.session = change.session;
        session.directory = change.directory;
        session.life = change.life;
        session.worker = change.worker;
        session.open = true;
        session.renewal = 1;
        session.slots = change.slots;
        session.offer = change.offer;
        session.policy = change.policy;
        session.heard_at = now();
        session.lease_deadline = now() + change.lease;
        if (previous) {
            const bool rebooted = decision.opening == Opening::after_reboot;
            const bool is_known = change.away != Duration{};
            opened.seen = {.detector = rebooted ? Detector::reboot : Detector::takeover,
                           .rule = decision.rule,
                           .silent_for = is_known ? change.away : now() - previous->heard_at,
                           .announced = previous->draining};
            // What goes over may know a longer lease (L2).
            session.lease_deadline = std::max(session.lease_deadline, previous->lease_deadline);
            previous->open = false;
            inherit(owner, on_disk, opened);
        }
        bring_back(*strangers, change.session, opened.seen);
        return {opened};
    }

    ChangeReply apply(const OpenStream& change) {
        Session* session = find_in(sessions, change.session);
        if (!session) return refuse(Errc::not_found);
        if (!session->open) return refuse(Errc::fenced);
        return {StreamOpened{++session->stream}};
    }

    ChangeReply apply(const EndSession& change) {
        Session* session = find_in(sessions, change.session);
        if (!session) return refuse(Errc::not_found);
        session->open = false;
        return {Applied{}};
    }

    // O6: one attempt of the session that has sent a heartbeat.
    void reconcile(Job& job, const ListedAttempts& listed, const Heartbeat& change, Sighting seen,
                   HeartbeatTaken& taken) {
        using Kind = ReconcileDecision::Kind;
        const Attempt& attempt = job.history.back();
        const AttemptKey key{job.id, job.epoch};
        const auto [kind, rule, end] = decide_reconcile({.in_run = true,
                                                         .store_epoch = job.epoch,
                                                         .state = job.state,
                                                         .asks = attempt.terms.asks,
                                                         .clean = attempt.clean,
                                                         .isolation = attempt.terms.isolation,
                                                         .kill_cause = attempt.kill_cause,
                                                         .recalled = attempt.recalled,
                                                         .assignment = attempt.assignment,
                                                         .listed = entry_of(listed, job),
                                                         .seen = change.seen});
        seen.rule = rule;
        if (kind == Kind::confirm_start && !apply(Start{change.session, key}))
            taken.stop.push_back(key);
        if (end) taken.ended.push_back({key, end_owned(job, *end, nullptr, seen)});
        if (kind == Kind::resend) taken.resent.push_back(assignment_of(job));
        if (kind == Kind::kill) taken.kill.push_back({key, *attempt.kill_cause});
        if (kind == Kind::recall) taken.recall.push_back(key);
    }

    ChangeReply apply(const Heartbeat& change) {
        Session* session = find_in(sessions, change.session);
        if (!session) return refuse(Errc::not_found);
        HeartbeatTaken taken;
        taken.answer = decide_heartbeat({session->open, session->heartbeat, change.number,
                                         session->content_hash == change.content_hash})
                           .answer;
        if (taken.answer == HeartbeatAnswer::cloned) session->open = false;
        if (taken.answer == HeartbeatAnswer::session_ended) ++fenced;
        if (taken.answer != HeartbeatAnswer::accept) return {taken};
        const auto listed = by_attempt(change.attempts);
        const auto strangers =
            judge_strangers(listed, change.session, session->directory, change.seen);
        taken.store_is_behind = !strangers;
        if (!strangers) return {taken};
        const Sighting seen{.detector = Detector::heartbeat,
                            .silent_for = now() - session->heard_at};
        session->lease_deadline = std::max(session->lease_deadline, now() + change.lease);
        session->heard_at = now();
        session->heartbeat = change.number;
        session->content_hash = change.content_hash;
        session->seen = std::max(session->seen, change.seen);
        session->slots = change.slots;
        session->draining = change.draining;
        session->offer = change.offer;
        session->given_up = 0;
        ++session->renewal;
        for (const auto id : runs_of(change.session))
            reconcile(jobs.at(id), listed, change, seen, taken);
        const auto stopped = bring_back(*strangers, change.session, seen);
        taken.stop.insert(taken.stop.end(), stopped.begin(), stopped.end());
        return {taken};
    }

    // O2, O3: attempts whose lease or confirmation is over. All are judged before any is ended.
    void sweep_attempts(Swept& swept) {
        for (const auto& [session_id, session] : sessions) {
            const auto runs = runs_of(session_id);
            for (const auto id : runs) {
                const Job& job = jobs.at(id);
                const Attempt& attempt = job.history.back();
                const auto decision =
                    decide_recovery({.state = job.state,
                                     .terms = attempt.terms,
                                     .clean = attempt.clean,
                                     .kill_cause = attempt.kill_cause,
                                     .recalled = attempt.recalled,
                                     .heard = !is_silent(session.heard_at, now(), timing),
                                     .saw_assignment = session.seen >= attempt.assignment,
                                     .alone = runs.size() + session.given_up == 1,
                                     .lease_deadline = session.lease_deadline,
                                     .confirm_deadline = attempt.confirm_deadline,
                                     .clock = clock});
                if (!decision.end && !decision.order_back) continue;
                const bool is_start = decision.detector == Detector::confirmation;
                const auto last_sign = is_start ? attempt.claimed_at : session.heard_at;
                const Sighting seen{decision.detector, decision.rule, now() - last_sign};
                swept.attempts.push_back({.attempt = {id, job.epoch},
                                          .session = session_id,
                                          .effects = job.spec->effects,
                                          .decision = decision,
                                          .seen = seen});
            }
        }
        for (auto& [key, session, effects, decision, seen, end, next] : swept.attempts) {
            Job& job = jobs.at(key.job);
            if (decision.end) {
                next = end_owned(job, *decision.end, nullptr, seen);
            } else {
                job.history.back().recalled = true;
                job.history.back().confirm_deadline = now() + timing.recall;
            }
        }
    }
};

}  // namespace perdure::reference
