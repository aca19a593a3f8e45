#include "api/job_views.h"

#include "api/recovery_views.h"
#include "core/job/aftermath.h"
#include "wire/job_json.h"
#include "wire/text_time.h"

namespace perdure {
namespace {

constexpr unsigned bits_below_milliseconds = 21;

void time_field(JsonWriter& out, std::string_view name, const std::optional<WallTime>& time) {
    if (time) out.field(name, time_text(*time));
}

void rest_field(JsonWriter& out, std::string_view name, const std::optional<ServiceTime>& until,
                const ServiceTick& clock) {
    if (until) out.field(name, duration_text(std::max(*until - clock.now, Duration{})));
}

// What a job left is to be JSON; if it is not, it is shown as the text that it is.
void write_left(JsonWriter& out, std::string_view result) {
    JsonTree parsed;
    if (result.empty()) return out.null();
    if (!parsed.read(result, JsonTree::Manner::strict)) return out.value(result);
    out.raw(canonical(parsed.root()));
}

void write_exit(JsonWriter& out, const AttemptEnd& end) {
    if (end.cause == Cause::crash_signal)
        out.field("signal", end.exit_code);
    else if (is_own_exit(end.cause))
        out.field("exit_code", end.exit_code);
}

void write_end(JsonWriter& out, const AttemptEnd& end) {
    out.field("cause", to_string(end.cause));
    out.field("ran", to_string(end.ran));
    out.field("succeeded", end.succeeded);
    out.field("clean", end.clean);
    out.field("reported", end.reported);
    write_exit(out, end);
    time_field(out, "again_at", end.at);
    if (end.matched != 0) out.field("matched", end.matched);
    out.flag("by_worker_policy", end.policy_fingerprint != 0);
}

void write_evidence(JsonWriter& out, const Evidence& evidence) {
    out.key("evidence");
    out.begin_object();
    if (!evidence.result.empty()) {
        out.key("result");
        write_left(out, evidence.result);
    }
    if (!evidence.detail.empty()) out.field("detail", evidence.detail);
    if (!evidence.last_lines.empty()) out.field("last_lines", evidence.last_lines);
    if (!evidence.host.empty()) out.field("host", evidence.host);
    if (evidence.peak_memory != 0) out.field("peak_memory", evidence.peak_memory);
    out.field("ran_for", duration_text(evidence.ran_for));
    const auto& usage = evidence.usage;
    if (usage != Usage{}) {
        out.field("cpu_user", duration_text(usage.cpu_user));
        out.field("cpu_system", duration_text(usage.cpu_system));
        out.field("read_bytes", usage.read_bytes);
        out.field("write_bytes", usage.write_bytes);
    }
    if (evidence.output_undelivered != 0)
        out.field("output_undelivered", evidence.output_undelivered);
    if (evidence.output_cut != 0) out.field("output_cut", evidence.output_cut);
    out.end_object();
}

void write_attempt(JsonWriter& out, const AttemptView& attempt, const SessionNames& workers) {
    out.begin_object();
    out.field("epoch", attempt.epoch.value);
    out.field("generation", attempt.generation);
    out.field("session", attempt.session);
    const auto worker = workers.find(attempt.session);
    if (worker != workers.end()) out.field("worker", worker->second);
    out.field("claimed_at", time_text(attempt.claimed_on));
    time_field(out, "started_at", attempt.started_on);
    time_field(out, "ended_at", attempt.ended_on);
    out.field("asks", attempt.terms.asks);
    out.field("isolation", to_string(attempt.terms.isolation));
    out.field("start_committed", attempt.start_committed);
    if (attempt.end) {
        write_end(out, *attempt.end);
        out.field("rule", attempt.rule);
    }
    if (attempt.evidence) write_evidence(out, *attempt.evidence);
    if (attempt.late_result) {
        out.key("late_result");
        out.begin_object();
        write_end(out, *attempt.late_result);
        out.end_object();
    }
    out.end_object();
}

// The attempt that the job's end rests on: the last one of its generation.
const AttemptView* deciding(const JobView& job) {
    return job.attempts.empty() ? nullptr : &job.attempts.back();
}

const AttemptEnd* deciding_end(const JobView& job) {
    const auto* attempt = deciding(job);
    if (!attempt) return nullptr;
    // Accepted: a person has taken the late result for the end.
    if (job.state != JobState::quarantined && attempt->late_result && attempt->end &&
        attempt->end->cause != job.cause)
        return &*attempt->late_result;
    return attempt->end ? &*attempt->end : nullptr;
}

void write_how_it_ended(JsonWriter& out, const JobView& job) {
    out.field("cause", to_string(job.cause));
    out.field("rule", job.rule);
    time_field(out, "ended_at", job.ended_on);
    const auto* end = deciding_end(job);
    if (end && end->cause == job.cause) write_exit(out, *end);
    out.flag("may_have_run", job.may_have_run);
    out.flag("discarded", job.discarded);
}

void write_place(JsonWriter& out, const JobView& job, const ServiceTick& clock,
                 const SessionNames& workers) {
    rest_field(out, "due_in", job.due, clock);
    time_field(out, "due_at", job.date);
    out.flag("held", job.state == JobState::blocked && !job.blocked_on);
    if (job.blocked_on) {
        out.key("blocked_on");
        out.begin_object();
        out.field("kind", job.blocked_on->kind == Permit::Kind::key ? "key" : "limit");
        out.field("name", job.blocked_on->name);
        out.end_object();
    }
    rest_field(out, "queue_timeout_in", job.queue_deadline, clock);
    rest_field(out, "total_timeout_in", job.total_deadline, clock);
    if (job.run) {
        const auto worker = workers.find(job.run->session);
        if (worker != workers.end()) out.field("worker", worker->second);
        out.field("session", job.run->session);
        if (job.run->kill_cause) out.field("kill_ordered", to_string(*job.run->kill_cause));
    }
    out.flag("presumed_lost", job.presumed_lost);
}

void write_awaited(JsonWriter& out, const JobView& job) {
    if (job.awaited.empty()) return;
    out.key("awaited");
    out.begin_array();
    for (const auto& row : job.awaited) {
        out.begin_object();
        out.field("job", row.after.job);
        out.field("on", to_string(row.after.on));
        if (row.ended) out.field("ended_as", to_string(row.ended->state));
        out.end_object();
    }
    out.end_array();
}

void write_callback(JsonWriter& out, const JobView& job, std::uint32_t number,
                    const Callback& callback) {
    out.begin_object();
    out.field("number", number);
    out.field("on", to_string(callback.on));
    if (!callback.spec->kind.empty()) out.field("kind", callback.spec->kind);
    if (!callback.spec->argv.empty()) {
        out.key("argv");
        out.begin_array();
        for (const auto& word : callback.spec->argv) out.value(word);
        out.end_array();
    }
    out.flag("added", number >= job.spec->callbacks.size());
    out.key("made");
    out.begin_array();
    for (const auto& made : job.made) {
        if (made.number != number) continue;
        out.begin_object();
        out.field("generation", made.generation);
        out.field("job", made.job);
        out.end_object();
    }
    out.end_array();
    out.end_object();
}

void write_callbacks(JsonWriter& out, const JobView& job) {
    const auto& own = job.spec->callbacks;
    if (own.empty() && job.added.empty()) return;
    out.key("callbacks");
    out.begin_array();
    std::uint32_t number = 0;
    for (const auto& callback : own) write_callback(out, job, number++, callback);
    for (const auto& added : job.added) write_callback(out, job, added.number, added.callback);
    out.end_array();
}

// What may still run is named with where (E2).
void write_old_process(JsonWriter& out, const JobView& job, const SessionNames& workers) {
    if (job.state != JobState::quarantined || job.attempts.empty()) return;
    const auto& last = job.attempts.back();
    if (is_known_dead(last.end, last.late_result)) return;
    const auto worker = workers.find(last.session);
    out.key("may_still_run");
    out.begin_object();
    out.field("epoch", last.epoch.value);
    if (worker != workers.end()) out.field("worker", worker->second);
    out.end_object();
}

std::string_view left_by(const JobView& job) {
    const auto* attempt = deciding(job);
    if (!attempt || !attempt->evidence) return {};
    return attempt->evidence->result;
}

// What people did to it (W2).
void write_acts(JsonWriter& out, const std::vector<Act>& acts) {
    if (acts.empty()) return;
    out.key("acts");
    out.begin_array();
    for (const auto& act : acts) {
        out.begin_object();
        out.field("act", to_string(act.kind));
        if (!act.by.empty()) out.field("by", act.by);
        out.field("at", time_text(act.on));
        out.end_object();
    }
    out.end_array();
}

void write_progress(JsonWriter& out, const ProgressNote* note) {
    if (!note) return;
    out.key("progress");
    out.begin_object();
    out.field("percent", note->percent);
    if (!note->text.empty()) out.field("text", note->text);
    out.end_object();
}

}  // namespace

WallTime submitted_on(JobId id) {
    return WallTime{
        milliseconds(static_cast<std::int64_t>(id.value >> bits_below_milliseconds)).us};
}

void write_damaged_job(JsonWriter& out, JobId id, const std::string& why) {
    out.begin_object();
    out.field("id", id);
    out.field("state", "damaged");
    out.field("submitted_at", time_text(submitted_on(id)));
    out.field("damaged", why);
    out.field("remedy", "perdure job discard " + id.text() + " --damaged; or restore a backup");
    out.end_object();
}

void write_job_line(JsonWriter& out, const JobLine& job, const LiveProgress& progress) {
    if (job.damaged) return write_damaged_job(out, job.id, *job.damaged);
    const auto& spec = *job.spec;
    out.begin_object();
    out.field("id", job.id);
    out.field("state", to_string(job.state));
    out.field("tenant", spec.tenant);
    out.field("queue", spec.queue);
    if (!spec.kind.empty()) out.field("kind", spec.kind);
    if (!spec.share.empty()) out.field("share", spec.share);
    if (!spec.argv.empty()) {
        out.key("argv");
        out.begin_array();
        for (const auto& word : spec.argv) out.value(word);
        out.end_array();
    }
    out.field("priority", spec.priority);
    out.field("effects", to_string(spec.effects));
    if (spec.key) out.field("key", *spec.key);
    out.field("epoch", job.epoch.value);
    out.field("generation", job.generation);
    out.field("submitted_at", time_text(submitted_on(job.id)));
    write_submitter(out, spec, EnvValues::masked);
    time_field(out, "run_at", spec.run_at);
    if (job.worker) out.field("worker", *job.worker);
    if (job.state == JobState::running) write_progress(out, progress.find({job.id, job.epoch}));
    if (job.cause) out.field("cause", to_string(*job.cause));
    time_field(out, "ended_at", job.ended_on);
    out.flag("may_have_run", job.may_have_run);
    out.flag("discarded", job.discarded);
    if (job.may_still_run_on) out.field("may_still_run_on", *job.may_still_run_on);
    out.end_object();
}

void write_attempts(JsonWriter& out, const JobShown& shown, std::string_view next) {
    const auto& attempts = shown.job.attempts;
    out.key("attempts");
    out.begin_array();
    for (const auto& attempt : attempts) write_attempt(out, attempt, shown.workers);
    out.end_array();
    const bool are_all = attempts.empty() || attempts.front().epoch <= Epoch{1};
    if (!are_all) out.field(next, attempts.front().epoch.value);
}

void write_job(JsonWriter& out, const JobShown& shown, const ServiceTick& clock,
               const LiveProgress& progress, const RecoveryPage& recoveries) {
    const auto& [job, workers] = shown;
    out.begin_object();
    out.field("id", job.id);
    out.field("state", to_string(job.state));
    out.field("epoch", job.epoch.value);
    out.field("generation", job.generation);
    out.field("submitted_at", time_text(submitted_on(job.id)));
    write_spec(out, *job.spec, SpecFields::all, EnvValues::masked);
    write_acts(out, job.acts);
    write_place(out, job, clock, workers);
    if (job.run) write_progress(out, progress.find(job.run->attempt));
    if (has_ended(job.state)) {
        write_how_it_ended(out, job);
        write_old_process(out, job, workers);
        if (const auto left = left_by(job); !left.empty()) {
            out.key("result");
            write_left(out, left);
        }
    }
    write_awaited(out, job);
    write_callbacks(out, job);
    write_attempts(out, shown, "attempts_next");
    write_recoveries_of_job(out, recoveries);
    out.end_object();
}

void write_result(JsonWriter& out, const JobView& job) {
    out.begin_object();
    out.field("id", job.id);
    out.field("state", to_string(job.state));
    write_how_it_ended(out, job);
    out.key("result");
    write_left(out, left_by(job));
    out.end_object();
}

void write_submitted(JsonWriter& out, const Submitted& submitted) {
    out.begin_object();
    out.field("id", submitted.id);
    out.field("state", to_string(submitted.state));
    out.field("created", submitted.created);
    out.end_object();
}

}  // namespace perdure
