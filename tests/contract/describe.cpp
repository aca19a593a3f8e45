// The content of a store as text: one line for each row.
#include <fmt/format.h>

#include <algorithm>

#include "core/policy/custom_policy.h"
#include "tests/contract/audit.h"

namespace perdure::contract {
namespace {

template <class Clock>
std::string text(const std::optional<Instant<Clock>>& at) {
    return at ? fmt::format("{}", at->us) : "-";
}

std::string text(const Permit& permit) {
    const auto* kind = permit.kind == Permit::Kind::key ? "key" : "limit";
    return fmt::format("{}:{}/{}", kind, permit.tenant, permit.name);
}

std::string text(const AttemptEnd& end) {
    return fmt::format("{}{} ran={} code={}{}{}{}{} at={} rule={} of {}", to_string(end.cause),
                       end.succeeded ? " succeeded" : "", to_string(end.ran), end.exit_code,
                       end.clean ? " clean" : "", end.reported ? " reported" : "",
                       end.alone ? " alone" : "", end.counted ? "" : " uncounted", text(end.at),
                       end.matched, end.policy_fingerprint);
}

std::string text(const Terms& terms) {
    return fmt::format("{} {}{} hold={} release={}", to_string(terms.isolation),
                       to_string(terms.effects), terms.asks ? " asks" : "", terms.hold.us,
                       terms.release_after.us);
}

std::string text(const AttemptView& a) {
    return fmt::format(
        "  attempt {} generation={} session={} number={} {} {}at={} end=[{}] "
        "late=[{}] rule={} from {} started {} to {} evidence=[{}]\n",
        a.epoch.value, a.generation, a.session.value, a.assignment, text(a.terms),
        a.start_committed ? "started " : "", a.claimed_at.us, a.end ? text(*a.end) : "",
        a.late_result ? text(*a.late_result) : "", a.rule, a.claimed_on.us, text(a.started_on),
        text(a.ended_on), a.evidence ? a.evidence->result : "none");
}

std::string text(const Input& i) {
    return fmt::format("{} generation={} {} {} code={} result={}{}", i.job.value, i.generation,
                       to_string(i.state), to_string(i.cause),
                       i.exit_code ? std::to_string(*i.exit_code) : "-", i.result,
                       i.result_left_out ? " left out" : "");
}

std::string text(const std::vector<Input>& inputs) {
    std::string all;
    for (const auto& input : inputs) all += "[" + text(input) + "]";
    return all;
}

std::string relations(const JobView& job) {
    std::string all;
    for (const auto& a : job.awaited)
        all += fmt::format("  awaits {} on {}: {}\n", a.after.job.value, to_string(a.after.on),
                           a.ended ? text(*a.ended) : "-");
    for (const auto& a : job.added)
        all += fmt::format("  added {} on {} since {}: {}\n", a.number, to_string(a.callback.on),
                           a.since_generation, a.callback.spec->kind);
    for (const auto& m : job.made)
        all += fmt::format("  made {}/{}: {}\n", m.generation, m.number, m.job.value);
    if (const auto& of = job.spec->callback_of)
        all += fmt::format("  callback of {} {}/{}\n", of->job.value, of->generation, of->number);
    return all;
}

std::string text(const RunView& r) {
    std::string counts;
    for (const auto count : r.counts.of) counts += fmt::format("{},", count);
    for (const auto count : r.counts.of_rules) counts += fmt::format("rule {},", count);
    return fmt::format(
        "  run job={} epoch={} session={} number={} {} {} clean={} order={} "
        "recalled={} confirm={} checkpoint={} counts={}{} inputs={} judge={}\n",
        r.attempt.job.value, r.attempt.epoch.value, r.session.value, r.assignment,
        to_string(r.state), text(r.terms), r.clean, r.kill_cause ? to_string(*r.kill_cause) : "-",
        r.recalled, r.confirm_deadline.us, r.checkpoint, counts, r.counts.did_not_run_in_a_row,
        text(r.inputs), fingerprint_of(deciding_policy(r)));
}

std::string text(AttemptKey attempt) {
    return fmt::format("{}.{}", attempt.job.value, attempt.epoch.value);
}

std::string text(const Assignment& a) {
    return fmt::format(" {}#{} {} {} {} {}", text(a.attempt), a.number, text(a.terms), a.spec->kind,
                       a.checkpoint, text(a.inputs));
}

std::string text(const std::vector<EndedAttempt>& ended) {
    std::string all;
    for (const auto& [attempt, next] : ended)
        all += fmt::format(" ended {} by {}", text(attempt), next.rule);
    return all;
}

std::string text(const ServiceTick& clock) {
    return fmt::format("tick={} now={} grace={}", clock.tick, clock.now.us, clock.grace_until.us);
}

struct DescribeReply {
    std::string operator()(const Applied&) const { return "applied"; }
    std::string operator()(const HeartbeatTaken& r) const {
        auto all = fmt::format("heartbeat {}{}", static_cast<int>(r.answer),
                               r.store_is_behind ? " behind" : "");
        for (const auto& a : r.resent) all += " resent" + text(a);
        for (const auto& a : r.stop) all += " stop " + text(a);
        for (const auto& a : r.kill)
            all += fmt::format(" kill {} {}", text(a.attempt), to_string(a.cause));
        for (const auto& a : r.recall) all += " recall " + text(a);
        return all + text(r.ended);
    }
    std::string operator()(const SessionOpened& r) const {
        return fmt::format("opened {} as {}{} seen {} {}{}", r.session.value,
                           static_cast<int>(r.opening), r.store_is_behind ? " behind" : "",
                           r.seen.rule, r.seen.silent_for.us, text(r.ended));
    }
    std::string operator()(const Swept& r) const {
        std::string all = "swept";
        for (const auto& a : r.attempts)
            all += fmt::format(" {} by {} {} then {}", text(a.attempt), a.decision.rule,
                               a.seen.silent_for.us, a.next.rule);
        for (const auto& w : r.waiting)
            all += fmt::format(" {} {} by {}", text(w.newest), to_string(w.state), w.decision.rule);
        return all;
    }
    std::string operator()(const Submitted& r) const {
        return fmt::format("submitted {} {} {}", r.id.value, r.created, to_string(r.state));
    }
    std::string operator()(const BatchSubmitted& r) const {
        if (r.refused)
            return fmt::format("refused at {}: {}", r.refused->index,
                               to_string(r.refused->why.code));
        std::string text = "submitted all";
        for (const auto& job : r.jobs) text += " " + (*this)(job);
        return text;
    }
    std::string operator()(const CallbackAdded& r) const {
        return fmt::format("added {} made {}", r.number, r.made ? r.made->value : 0);
    }
    std::string operator()(const Claimed& r) const {
        std::string all = r.left > 0 ? "claimed, more left" : "claimed";
        for (const auto& a : r.assignments) all += text(a);
        return all;
    }
    std::string operator()(const StreamOpened& r) const {
        return fmt::format("stream {}", r.stream);
    }
    std::string operator()(const Reported& r) const {
        return fmt::format("reported {} {}", static_cast<int>(r.answer), r.rule);
    }
    std::string operator()(const Cancelled& r) const {
        return fmt::format("cancelled {} {} {}", static_cast<int>(r.kind),
                           r.running ? r.running->epoch.value : 0,
                           r.session ? r.session->value : 0);
    }
    std::string operator()(const Forgotten& r) const {
        std::string text = "forgotten";
        auto jobs = r.jobs;
        std::sort(jobs.begin(), jobs.end());
        for (const auto job : jobs) text += " " + job.text();
        return text;
    }
};

}  // namespace

std::string describe(const JobView& job) {
    auto all = fmt::format(
        "job {} {} epoch={} generation={} submitted={} queue={} total={} due={} date={} kept={} "
        "on={}{}",
        job.id.value, to_string(job.state), job.epoch.value, job.generation, job.submitted_at.us,
        text(job.queue_deadline), text(job.total_deadline), text(job.due), text(job.date),
        text(job.kept_until), job.blocked_on ? text(*job.blocked_on) : "-",
        job.presumed_lost ? " presumed_lost" : "");
    if (has_ended(job.state))
        all += fmt::format(" cause={} rule={} may_have_run={} discarded={} at={} on={} until={}",
                           to_string(job.cause), job.rule, job.may_have_run, job.discarded,
                           text(job.ended_at), text(job.ended_on), text(job.forget_at));
    for (const auto& act : job.acts)
        all += fmt::format(" {} by `{}` on {}", to_string(act.kind), act.by, act.on.us);
    all += "\n";
    for (const auto& attempt : job.attempts) all += text(attempt);
    if (job.run) all += text(*job.run);
    return all + relations(job);
}

std::string describe(const SessionView& s) {
    auto all = fmt::format(
        "session {} life={} worker={} open={} stream={} assignments={} "
        "heartbeat={} hash={} seen={} renewal={} slots={}{} lease={} heard={} policy={} "
        "unconfirmed={} deaf={} until={}\n",
        s.session.value, s.life, s.worker, s.open, s.stream, s.assignments, s.heartbeat,
        s.content_hash, s.seen, s.renewal, s.slots, s.draining ? " draining" : "",
        s.lease_deadline.us, s.heard_at.us, s.policy ? fingerprint_of(*s.policy) : 0,
        s.hearing.unconfirmed.size(), s.hearing.wait.us, s.hearing.claims_from.us);
    for (const auto& run : s.runs) all += text(run);
    return all;
}

std::string describe(const GroupReply& reply) {
    auto all = fmt::format("group {} work={} keeper={}/{}\n", text(reply.clock),
                           reply.work_appeared, reply.keeper.holder.value, reply.keeper.epoch);
    for (const auto& r : reply.replies) {
        const auto line = r ? std::visit(DescribeReply{}, *r)
                            : fmt::format("refused: {}", to_string(r.error().code));
        all += "  " + line + "\n";
    }
    for (const auto& entry : reply.recoveries) all += describe(entry);
    return all;
}

std::string describe(const Recovery& e) {
    return fmt::format(
        "recovery {} job={} epoch={} by {}: {}, {} {} end=[{}] rules {} {} after {} wait={} "
        "worker={} on={}\n",
        e.id, e.attempt.job.value, e.attempt.epoch.value, to_string(e.detector),
        to_string(e.incident), to_string(e.repair), to_string(e.effects), e.end ? text(*e.end) : "",
        e.seen_by, e.rule, e.time_to_detect.us, e.wait.us, e.worker, e.on.us);
}

std::string describe(const RecoveryPage& page) {
    std::string all;
    for (const auto& line : page.recoveries)
        all += describe(line.entry) + fmt::format("  then {} by {} on {}\n",
                                                  line.epoch_after ? line.epoch_after->value : 0,
                                                  line.worker_after, text(line.acted_on));
    return all + fmt::format("next {}\n", page.next.value_or(0));
}

std::string describe(const OverdueView& overdue) {
    auto all = fmt::format("overdue {}\n", text(overdue.clock));
    for (const auto job : overdue.waiting) all += fmt::format("  wait job={}\n", job.value);
    for (const auto& permit : overdue.free_permits) all += "  free " + text(permit) + "\n";
    return all;
}

std::string describe(const JobPage& page) {
    std::string all;
    for (const auto& line : page.jobs)
        all += fmt::format(
            "line {} {} {} epoch={} generation={} cause={} on={} worker={} still={}{}{}\n",
            line.id.value, line.spec->queue + "/" + line.spec->share, to_string(line.state),
            line.epoch.value, line.generation, line.cause ? to_string(*line.cause) : "-",
            text(line.ended_on), line.worker.value_or("-"), line.may_still_run_on.value_or("-"),
            line.may_have_run ? " may_have_run" : "", line.discarded ? " discarded" : "");
    return all + fmt::format("next {}\n", page.next ? page.next->value : 0);
}

std::string describe(const Overview& overview) {
    auto all = text(overview.clock) + "\n";
    for (const auto& queue : overview.queues) {
        all += fmt::format("queue {}{}:", queue.queue, queue.paused ? " paused" : "");
        for (const auto jobs : queue.jobs) all += fmt::format(" {}", jobs);
        all += "\n";
    }
    for (const auto& limit : overview.limits)
        all += fmt::format("limit {} {} of {}\n", limit.name, limit.taken, limit.max);
    for (const auto& worker : overview.workers)
        all += fmt::format("worker {} {} at {} {} of {}{}{}{} silent for {} lease {}\n",
                           worker.session.value, worker.worker, worker.machine, worker.running,
                           worker.slots, worker.suspect ? " suspect" : "",
                           worker.deaf ? " deaf" : "", worker.draining ? " draining" : "",
                           worker.silent_for.us, worker.lease_left.us);
    return all;
}

std::string describe(const AuditView& audit) {
    auto all = fmt::format("store {} repairs={} fenced={}\n", text(audit.clock), audit.repairs,
                           audit.fenced);
    for (const auto& job : audit.jobs) all += describe(job);
    for (const auto& h : audit.holders)
        all += fmt::format("holder {} slot={} job={}\n", text(h.permit), h.slot, h.job.value);
    return all;
}

}  // namespace perdure::contract
