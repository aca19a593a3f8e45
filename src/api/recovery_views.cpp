#include "api/recovery_views.h"

#include <algorithm>

#include "wire/text_time.h"

namespace perdure {
namespace {

void write_facts(JsonWriter& out, const Recovery& entry) {
    out.key("facts");
    out.begin_object();
    out.field("effects", to_string(entry.effects));
    out.field("silent_for", duration_text(entry.time_to_detect));
    if (entry.end) {
        const auto& end = *entry.end;
        out.field("ran", to_string(end.ran));
        out.field("reported", end.reported);
        out.flag("succeeded", end.succeeded);
        out.flag("clean", end.clean);
        out.flag("alone", end.alone);
        if (!end.counted) out.field("counted", false);
        if (end.cause == Cause::crash_signal) out.field("signal", end.exit_code);
        if (end.cause == Cause::exit) out.field("exit_code", end.exit_code);
    }
    if (entry.wait != Duration{}) out.field("wait", duration_text(entry.wait));
    out.end_object();
}

}  // namespace

void write_recovery(JsonWriter& out, const RecoveryLine& line) {
    const auto& entry = line.entry;
    out.begin_object();
    out.field("id", entry.id);
    out.field("at", time_text(entry.on));
    out.field("job", entry.attempt.job);
    out.field("epoch", entry.attempt.epoch.value);
    out.field("incident", to_string(entry.incident));
    out.field("detector", to_string(entry.detector));
    if (entry.end) out.field("cause", to_string(entry.end->cause));
    out.field("decision", to_string(entry.repair));
    out.field("seen_by", entry.seen_by);
    out.field("rule", entry.rule);
    if (!entry.worker.empty()) out.field("worker", entry.worker);
    write_facts(out, entry);
    out.field("time_to_detect", duration_text(entry.time_to_detect));
    if (line.epoch_after) out.field("epoch_after", line.epoch_after->value);
    if (!line.worker_after.empty()) out.field("worker_after", line.worker_after);
    if (line.acted_on) {
        out.field("acted_at", time_text(*line.acted_on));
        out.field("time_to_act", duration_text(std::max(*line.acted_on - entry.on, Duration{})));
    }
    out.field("story", story_of(entry));
    out.end_object();
}

void write_recoveries_of_job(JsonWriter& out, const RecoveryPage& page) {
    out.key("recoveries");
    out.begin_array();
    for (auto it = page.recoveries.rbegin(); it != page.recoveries.rend(); ++it)
        write_recovery(out, *it);
    out.end_array();
}

}  // namespace perdure
