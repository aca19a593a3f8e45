#include "server/sessions/session_service.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/probe.h"
#include "base/zoo.h"
#include "core/reconcile.h"
#include "server/sessions/known_jobs.h"
#include "server/settling.h"

namespace perdure {
namespace {

using ListedByAttempt = std::map<AttemptKey, Listed>;

// A worker may list thousands. If one is there twice, the first counts.
ListedByAttempt by_attempt(const std::vector<Listed>& listed) {
    ListedByAttempt found;
    for (const auto& entry : listed) found.emplace(entry.attempt, entry);
    return found;
}

bool is_draining(const HeartbeatRequest& request) {
    return request.draining.value_or(request.slots == 0);
}

ReconcileFacts owned_facts(const RunView& run, const ListedByAttempt& listed, std::uint64_t seen) {
    const auto found = listed.find(run.attempt);
    return {.in_run = true,
            .store_epoch = run.attempt.epoch,
            .state = run.state,
            .asks = run.terms.asks,
            .clean = run.clean,
            .isolation = run.terms.isolation,
            .order = run.order,
            .recalled = run.recalled,
            .assignment = run.assignment,
            .listed = found == listed.end() ? std::nullopt : std::optional(found->second),
            .seen = seen};
}

}  // namespace

ReconcileFacts stranger_facts(const JobView& job, const Listed& listed, std::uint64_t seen) {
    ReconcileFacts facts{.store_epoch = job.epoch, .listed = listed, .seen = seen};
    const bool newest = job.epoch == listed.attempt.epoch;
    facts.presumed_lost = newest && job.presumed_lost && is_waiting_for_a_claim(job.state);
    facts.owned_elsewhere = newest && job.run.has_value();
    facts.job_ended = has_ended(job.state);
    facts.quarantined = job.state == JobState::quarantined && !job.discarded;
    if (job.spec) facts.effects = job.spec->effects;
    if (newest && !job.attempts.empty()) facts.isolation = job.attempts.back().terms.isolation;
    return facts;
}

std::uint64_t content_hash(const HeartbeatRequest& request) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3ULL; };
    mix(request.seen);
    mix(request.slots);
    mix(is_draining(request) ? 1 : 0);
    for (const auto& listed : request.attempts) {
        mix(listed.attempt.job.value);
        mix(listed.attempt.epoch.value);
        mix(listed.assignment);
        mix(static_cast<std::uint64_t>(listed.phase));
    }
    return hash;
}

SessionService::SessionService(Store& store, GroupCommit& commits, Dispatcher& dispatcher,
                               Timing timing, GroupCommit::Fatal fatal, Log log)
    : store_(store),
      commits_(commits),
      dispatcher_(dispatcher),
      timing_(timing),
      fatal_(std::move(fatal)),
      log_(std::move(log)) {}

Task<Result<std::uint64_t>> SessionService::open_stream(SessionId session,
                                                        std::shared_ptr<Outbox> outbox) {
    const OpenStream change{session};
    auto reply = co_await commits_.commit(Lane::reports, change);
    if (!reply) co_return reply.error();
    const auto stream = std::get<StreamOpened>(*reply).stream;
    dispatcher_.attach(session, stream, std::move(outbox));
    co_return stream;
}

Task<Result<HeartbeatAnswerMessage>> SessionService::heartbeat(HeartbeatRequest request) {
    if (!commits_.healthy()) co_return error(Errc::unavailable, "the store does not answer");
    if (request.tick_seen > commits_.seen().clock.tick) {
        // Another server's tick may be newer than what we have seen: look before we judge.
        auto service = co_await store_.service();
        if (!service) co_return service.error();
        if (request.tick_seen > service->clock.tick) {
            fatal_("a worker has seen a later tick than the store has: it has lost commits");
            co_return error(Errc::unavailable, "the store has lost commits");
        }
    }
    auto view = co_await store_.session(request.session);
    if (view.is(Errc::not_found))
        co_return HeartbeatAnswerMessage{.answer = HeartbeatAnswer::session_ended};
    if (!view) co_return view.error();

    const auto hash = content_hash(request);
    const auto decision = decide_heartbeat({.session_is_open = view->open,
                                            .last_number = view->heartbeat,
                                            .number = request.number,
                                            .same_content = view->content_hash == hash});
    if (decision.answer == HeartbeatAnswer::cloned) {
        reached<"cloned_session_ended">();
        const EndSession change{request.session};
        auto ended = co_await commits_.commit(Lane::reports, change);
        if (!ended) co_return ended.error();
    }
    if (decision.answer != HeartbeatAnswer::accept)
        co_return HeartbeatAnswerMessage{.answer = decision.answer};

    Renew renew{.session = request.session,
                .heartbeat = request.number,
                .content_hash = hash,
                .seen = request.seen,
                .slots = request.slots,
                .draining = is_draining(request),
                .offer = request.offer,
                .lease = request.lease};
    auto strangers =
        co_await judge_strangers(request.session, request.attempts, view->runs, request.seen);
    if (!strangers) co_return strangers.error();
    const Sighting seen{.detector = Detector::heartbeat,
                        .silent_for = view->clock.now - view->heard_at};
    auto changes = with_returning(std::move(renew), request.session, *strangers, seen);
    auto replies = co_await commits_.commit_all(Lane::renewals, std::move(changes));
    const auto& renewed = replies.front();
    if (renewed.is(Errc::fenced))
        co_return HeartbeatAnswerMessage{.answer = HeartbeatAnswer::session_ended};
    if (renewed.is(Errc::conflict))
        co_return HeartbeatAnswerMessage{.answer = HeartbeatAnswer::ignore};
    if (!renewed) co_return renewed.error();
    // Read again: only what is in `run` after the renewal is kept by it. What a sweep gave up just
    // before must be stopped, not kept alive.
    auto renewed_view = co_await store_.session(request.session);
    if (!renewed_view) co_return renewed_view.error();
    co_return co_await reconcile(std::move(request), std::move(*renewed_view), seen);
}

Task<Result<HeartbeatAnswerMessage>> SessionService::reconcile(HeartbeatRequest request,
                                                               SessionView view, Sighting seen) {
    progress_.hear(view, std::move(request.progress));
    Reconciled decided;
    const auto listed = by_attempt(request.attempts);
    for (const auto& run : view.runs)
        decided.emplace_back(run, decide_reconcile(owned_facts(run, listed, request.seen)));
    auto strangers =
        co_await judge_strangers(request.session, request.attempts, view.runs, request.seen);
    if (!strangers) co_return strangers.error();
    decided.insert(decided.end(), strangers->begin(), strangers->end());

    HeartbeatAnswerMessage answer{.answer = HeartbeatAnswer::accept,
                                  .tick = commits_.seen().clock.tick};
    std::vector<Change> changes;
    std::vector<AttemptKey> about;
    using Kind = ReconcileDecision::Kind;
    for (const auto& [run, decision] : decided) {
        switch (decision.kind) {
            case Kind::nothing: break;
            case Kind::confirm_start:
                changes.push_back(Start{request.session, run.attempt});
                about.push_back(run.attempt);
                break;
            case Kind::did_not_start:
            case Kind::lost:
                reached<"reconcile_settled_an_unlisted_attempt">();
                seen.rule = decision.rule;
                changes.push_back(settle(run, *decision.end, std::nullopt, seen));
                about.push_back(run.attempt);
                break;
            case Kind::reinstate:
                seen.rule = decision.rule;
                changes.push_back(Reinstate{request.session, run.attempt, seen});
                about.push_back(run.attempt);
                break;
            case Kind::resend:
                reached<"assignment_sent_again">();
                answer.resent.push_back(
                    {run.attempt, run.assignment, run.terms, run.spec, run.checkpoint, run.inputs});
                break;
            case Kind::stop:
                reached<"told_to_stop">();
                answer.stop.push_back(run.attempt);
                break;
            case Kind::kill: answer.kill.push_back({run.attempt, *run.order}); break;
            case Kind::recall: answer.recall.push_back(run.attempt); break;
            case Kind::store_is_behind: break;  // judge_strangers() has ended this life
        }
    }
    const auto replies = co_await commits_.commit_all(Lane::reports, std::move(changes));
    for (std::size_t i = 0; i < replies.size(); ++i) {
        if (replies[i] || replies[i].is(Errc::corrupt)) continue;  // that one is left to a person
        const bool moved = replies[i].is(Errc::conflict) || replies[i].is(Errc::fenced);
        if (!moved) co_return replies[i].error();
        // Somebody was first: the renewed lease must not reach an attempt that may be given away.
        answer.stop.push_back(about[i]);
    }
    co_return answer;
}

// Attempts that a worker lists and its session does not own.
Task<Result<Reconciled>> SessionService::judge_strangers(SessionId session,
                                                         std::vector<Listed> listed,
                                                         std::vector<RunView> owned,
                                                         std::uint64_t seen) {
    Reconciled judged;
    std::set<AttemptKey> ours;
    for (const auto& run : owned) ours.insert(run.attempt);
    std::erase_if(listed, [&](const Listed& entry) { return ours.contains(entry.attempt); });
    std::vector<JobId> ids;
    for (const auto& entry : listed) ids.push_back(entry.attempt.job);
    if (ids.empty()) co_return judged;
    auto jobs = co_await known_jobs(store_, std::move(ids));
    if (!jobs) co_return jobs.error();
    const auto service = co_await store_.service();
    if (!service) co_return service.error();
    for (const auto& entry : listed) {
        if (jobs->damaged.contains(entry.attempt.job)) continue;
        const auto* job = jobs->find(entry.attempt.job);
        JobView unknown;  // epoch 0: the store has never given it out, or has removed it since
        const auto& known = job ? *job : unknown;
        // It was not ours when the session was read; a claim since then is nobody's mistake.
        const bool claimed_since =
            known.run && known.run->session == session && known.run->attempt == entry.attempt;
        if (claimed_since) continue;
        RunView run{.attempt = entry.attempt, .session = session};
        auto facts = stranger_facts(known, entry, seen);
        facts.job_gone = !job && entry.attempt.job.value <= service->id_high_water;
        if (facts.job_gone) reached<"listed_attempt_of_a_job_that_is_gone">();
        const auto decision = decide_reconcile(facts);
        if (decision.kind == ReconcileDecision::Kind::store_is_behind) {
            fatal_("a worker has an epoch that the store has never given out");
            co_return error(Errc::unavailable, "the store has lost commits");
        }
        judged.emplace_back(run, decision);
    }
    co_return judged;
}

// What comes back does so in the very transaction that makes its session eligible for claims:
// otherwise the session could be given the same job anew, and would have to kill what it has.
std::vector<Change> SessionService::with_returning(Change first, SessionId session,
                                                   const Reconciled& strangers, Sighting seen) {
    // Also at an opening it is the list that brings it back.
    seen.detector = Detector::heartbeat;
    std::vector<Change> changes;
    changes.push_back(std::move(first));
    for (const auto& [run, decision] : strangers) {
        if (decision.kind != ReconcileDecision::Kind::reinstate) continue;
        seen.rule = decision.rule;
        changes.push_back(Reinstate{session, run.attempt, seen});
    }
    return changes;
}

Task<Result<ReportResponse>> SessionService::report(ReportRequest request) {
    std::vector<Change> changes;
    changes.reserve(request.items.size());
    bool ended = false;
    for (auto& item : request.items) {
        switch (item.kind) {
            case ReportItem::Kind::ask:
            case ReportItem::Kind::started:
                changes.push_back(Start{request.session, item.attempt});
                break;
            case ReportItem::Kind::ended:
                ended = true;
                item.end.reported = true;
                changes.push_back(
                    Report{request.session, item.attempt, item.end, item.evidence, item.age});
                break;
            case ReportItem::Kind::begin:
            case ReportItem::Kind::checkpoint: {
                const bool begin = item.kind == ReportItem::Kind::begin;
                changes.push_back(
                    Progress{begin ? Progress::Kind::begin : Progress::Kind::checkpoint,
                             request.session, item.attempt, item.checkpoint, item.number});
                break;
            }
        }
    }
    if (ended) dispatcher_.alarm().ring();  // who is next can be claimed by the same commit
    auto replies = co_await commits_.commit_report(request.session, std::move(changes));
    ReportResponse response;
    for (std::size_t i = 0; i < request.items.size(); ++i) {
        const auto& reply = replies[i];
        const bool ask = request.items[i].kind == ReportItem::Kind::ask;
        auto answer = ask ? ItemAnswer::go : ItemAnswer::ok;
        if (reply.is(Errc::fenced) || reply.is(Errc::not_found))
            answer = ItemAnswer::fenced;
        else if (reply.is(Errc::corrupt))
            answer = ItemAnswer::damaged;
        else if (!reply)
            answer = ItemAnswer::again;
        else if (const auto* said = std::get_if<Reported>(&*reply)) {
            if (said->answer == ReportAnswer::file_late) {
                reached<"late_result_filed">();
                answer = ItemAnswer::fenced;
            }
            if (said->answer == ReportAnswer::correct) reached<"presumed_lost_reported">();
        }
        response.answers.push_back(answer);
    }
    co_return response;
}

}  // namespace perdure
