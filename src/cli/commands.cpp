// The table of commands.
#include <set>

#include "cli/command.h"
#include "cli/fleet/fleet_commands.h"
#include "cli/job/chosen_jobs.h"
#include "cli/job/job_commands.h"
#include "cli/job/job_options.h"
#include "cli/local/local_commands.h"
#include "cli/recovery/recovery_commands.h"

namespace perdure::cli {
namespace {

constexpr std::string_view run_group = "Run Perdure";
constexpr std::string_view job_group = "Jobs";
constexpr std::string_view fleet_group = "Queues, limits, workers";
constexpr std::string_view inside_group = "Inside a job";

using How = Word::How;

const Word one_id{"id", "id of the job", How::one};
const Word many_ids{"id", "ids of jobs", How::many};
const Word any_ids{"id", "ids of jobs", How::any};
const Option tenant_option{"--tenant", "NAME", "tenant; `default` if left out"};

std::vector<Option> with_job_options(std::vector<Option> own) {
    const auto& options = job_options();
    own.insert(own.end(), options.begin(), options.end());
    own.push_back({"--idempotency-key", "KEY", "same key, same job; made up if left out"});
    own.push_back({"--quiet", "", "say nothing that is no error"});
    return own;
}

std::vector<Option> callback_options() {
    std::vector<Option> options = {{"--on", "ON", "success, failure or end (default)"}};
    // When, and for whom, its job says.
    const std::set<std::string_view> of_its_job = {"at", "delay", "after", "tenant"};
    for (const auto& option : job_options())
        if (!of_its_job.contains(option.key())) options.push_back(option);
    return options;
}

void add_processes(std::vector<Command>& all) {
    all.push_back({.path = "up",
                   .group = run_group,
                   .summary = "a server and a worker on this machine, until Ctrl-C",
                   .example = "  perdure up --data ~/try --listen 127.0.0.1:7373\n"
                              "  perdure up --store postgres://perdure@db.internal/jobs",
                   .settings = {"profile", "data", "server.store", "server.listen", "access.users",
                                "worker.name", "worker.slots", "worker.tenants", "worker.queues",
                                "worker.kinds", "worker.state", "worker.user", "log.level",
                                "log.format", "log.file"},
                   .run = keep_up});
    all.push_back({.path = "server",
                   .group = run_group,
                   .summary = "a server alone",
                   .example = "  perdure server --profile production",
                   .settings = {"profile", "data", "server.store", "server.listen", "access.users",
                                "log.level", "log.format", "log.file"},
                   .run = keep_server});
    all.push_back(
        {.path = "worker",
         .group = run_group,
         .summary = "a worker alone, for a server somewhere else",
         .example = "  perdure worker --server http://127.0.0.1:7373 --slots 8",
         .settings = {"profile", "data", "server.urls", "server.token_file", "worker.name",
                      "worker.slots", "worker.tenants", "worker.queues", "worker.kinds",
                      "worker.state", "worker.user", "log.level", "log.format", "log.file"},
         .run = keep_worker});
    all.push_back({.path = "worker drain",
                   .group = fleet_group,
                   .summary = "let a worker finish what runs, and leave",
                   .example = "  perdure worker drain anvil",
                   .words = {{"worker", "its name; perdure workers lists them"}},
                   .settings = server_settings,
                   .run = drain_worker});
    // Hidden: what a watchdog starts. All settings come as --set.
    all.push_back({.path = "child-server", .summary = "what a watchdog starts", .run = be_server});
    all.push_back({.path = "child-worker", .summary = "what a watchdog starts", .run = be_worker});
}

void add_submitting(std::vector<Command>& all) {
    all.push_back(
        {.path = "run",
         .group = job_group,
         .summary = "submit a command, show its output, end as it ends",
         .example = "  perdure run -- echo hello\n"
                    "  perdure run --effects once --run-timeout 1h -- ./pay-salaries",
         .options = with_job_options(
             {{"-n,--no-input", "", "leave standard input alone, and say nothing of it"}}),
         .settings = server_settings,
         .takes_command = true,
         .run = run_job});
    all.push_back({.path = "submit",
                   .group = job_group,
                   .summary = "submit a command, or many jobs from a file; print their ids",
                   .example = "  perdure submit --queue slow --retries 3 -- ./import data.csv\n"
                              "  perdure submit --file jobs.json",
                   .options = with_job_options(
                       {{"--file", "FILE", "jobs as JSON, all or none; - is standard input"}}),
                   .settings = server_settings,
                   .takes_command = true,
                   .run = submit_jobs});
    all.push_back({.path = "jobs",
                   .group = job_group,
                   .summary = "list jobs, newest first",
                   .example = "  perdure jobs --state running,ready --queue slow",
                   .options = {{"-s,--state", "STATES", "only these, separated by commas", true},
                               {"-q,--queue", "NAME", "only this queue"},
                               {"--kind", "NAME", "only this kind"},
                               {"-k,--key", "KEY", "only this key"},
                               {"-n,--limit", "N", "at most so many: 1 to 1000, 50 if left out"},
                               {"--before", "ID", "only jobs older than this one"},
                               {"-w,--watch", "", "again every 2 s, until Ctrl-C"},
                               tenant_option},
                   .settings = server_settings,
                   .run = list_jobs});
    all.push_back({.path = "logs",
                   .group = job_group,
                   .summary = "what a job has printed",
                   .example = "  perdure logs -f 06na5x0g00000",
                   .words = {one_id},
                   .options = {{"-f,--follow", "", "go on until the job has ended"},
                               {"--attempt", "N", "of this attempt; the newest if left out"}},
                   .settings = server_settings,
                   .run = show_logs});
    all.push_back({.path = "why",
                   .group = job_group,
                   .summary = "why a job has not ended: every blocker, and what removes it",
                   .example = "  perdure why 06na5x0g00000",
                   .words = {one_id},
                   .settings = server_settings,
                   .run = explain_job});
}

Command act(std::string_view path, std::string_view summary, std::string_view example,
            ExitCode (*run)(Context&), std::vector<Option> options = {}) {
    const auto filters = filter_options();
    options.insert(options.end(), filters.begin(), filters.end());
    return {.path = path,
            .group = job_group,
            .summary = summary,
            .example = example,
            .words = {any_ids},
            .options = std::move(options),
            .settings = server_settings,
            .run = run};
}

void add_job_family(std::vector<Command>& all) {
    all.push_back({.path = "job",
                   .group = job_group,
                   .summary = "look at one job, or act on some",
                   .example = "  perdure job show 06na5x0g00000"});
    all.push_back({.path = "job show",
                   .group = job_group,
                   .summary = "everything about one job, with its timeline",
                   .example = "  perdure job show 06na5x0g00000\n"
                              "  perdure job show 06na5x0g00000 --before 101",
                   .words = {one_id},
                   .options = {{"--before", "N",
                                "only its attempts before the Nth; 100 are shown at a time"}},
                   .settings = server_settings,
                   .run = show_job});
    all.push_back({.path = "job wait",
                   .group = job_group,
                   .summary = "wait until jobs have ended; exit codes as of `run`",
                   .example = "  perdure job wait 06na5x0g00000 && echo done\n"
                              "  perdure job wait --queue slow",
                   .words = {any_ids},
                   .options = {{"--any", "", "until one of them has; its id is printed"},
                               {"-q,--queue", "NAME", "all of this queue that have not ended yet"},
                               {"--tenant", "NAME", "tenant of that queue"}},
                   .settings = server_settings,
                   .run = wait_for_job});
    all.push_back(act("job cancel", "stop jobs, waiting or running ones",
                      "  perdure job cancel 06na5x0g00000\n"
                      "  perdure job cancel --queue slow --state ready",
                      cancel_jobs));
    all.push_back(act("job retry", "submit ended jobs again, as new ones",
                      "  perdure job retry 06na5x0g00000\n"
                      "  perdure job retry --state failed --queue slow",
                      retry_jobs));
    all.push_back(act("job discard", "remove jobs that are damaged, or deal with quarantined ones",
                      "  perdure job discard 06na5x0g00000 --damaged", discard_job,
                      {{"--damaged", "", "its rows cannot be understood: remove them"},
                       {"--may-still-run", "", "also if its process may still be alive"}}));
    all.push_back(act("job hold", "keep waiting jobs from starting",
                      "  perdure job hold 06na5x0g00000", hold_jobs));
    all.push_back(act("job unhold", "let held jobs go on", "  perdure job unhold 06na5x0g00000",
                      unhold_jobs));
}

void add_relating(std::vector<Command>& all) {
    all.push_back({.path = "job add-callback",
                   .group = job_group,
                   .summary = "run a command when a job ends, or at once if it has ended",
                   .example = "  perdure job add-callback 06na5x0g00000 --on failure -- ./page-me",
                   .words = {one_id},
                   .options = callback_options(),
                   .settings = server_settings,
                   .takes_command = true,
                   .run = add_callback});
    for (const bool serial : {true, false})
        all.push_back(
            {.path = serial ? "serial" : "parallel",
             .group = job_group,
             .summary = serial ? "commands one after the other, all or none accepted"
                               : "commands at the same time, all or none accepted",
             .example = serial ? "  perdure serial './fetch' './build --fast' --then './tell-me'"
                               : "  perdure parallel './part 1' './part 2' --then './join'",
             .words = {{"command", "as words, or a job as JSON, in quotes", How::any}},
             .options = {{"--then", "COMMAND", "run this when all have ended, in whatever way"},
                         {"--file", "FILE", "{\"jobs\": [...], \"then\": {...}} instead"},
                         {"-q,--queue", "NAME", "queue of all that name none"},
                         {"--idempotency-key", "KEY", "same key, same jobs; made up if left out"},
                         {"--quiet", "", "say nothing that is no error"}},
             .settings = server_settings,
             .run = serial ? submit_serial : submit_parallel});
}

void add_fleet(std::vector<Command>& all) {
    const auto add = [&](std::string_view path, std::string_view summary, std::string_view example,
                         std::vector<Word> words, ExitCode (*run)(Context&)) {
        all.push_back({.path = path,
                       .group = fleet_group,
                       .summary = summary,
                       .example = example,
                       .words = std::move(words),
                       .options = path.starts_with("queues") ? std::vector<Option>{tenant_option}
                                                             : std::vector<Option>{},
                       .settings = server_settings,
                       .run = run});
    };
    const Word queue{"queue", "its name"};
    add("queues", "queues with their counts", "  perdure queues", {}, list_queues);
    add("queues pause", "start nothing of a queue; what runs goes on",
        "  perdure queues pause slow", {queue}, pause_queue);
    add("queues resume", "let a queue go on", "  perdure queues resume slow", {queue},
        resume_queue);
    add("limits", "limits, and how much of each is taken", "  perdure limits", {}, list_limits);
    add("limits set", "define a limit, or change it", "  perdure limits set licences 2",
        {{"name", "its name"}, {"max", "how many may run at the same time"}}, set_limit);
    add("workers", "workers that are connected", "  perdure workers", {}, list_workers);
}

void add_policies(std::vector<Command>& all) {
    all.push_back({.path = "policy",
                   .group = fleet_group,
                   .summary = "what happens when an attempt ends, for every cause",
                   .example = "  perdure policy list"});
    all.push_back({.path = "policy list",
                   .group = fleet_group,
                   .summary = "the policies that the server knows, and where each applies",
                   .example = "  perdure policy list --json",
                   .settings = server_settings,
                   .run = list_policies});
    all.push_back({.path = "policy explain",
                   .group = fleet_group,
                   .summary = "what would happen now to a job, or to one of a queue or kind",
                   .example = "  perdure policy explain 06na5x0g00000\n"
                              "  perdure policy explain --queue slow --kind mail.send\n"
                              "  perdure policy explain --worker gpu-7",
                   .words = {{"id", "id of the job; left out: a new one", How::optional}},
                   .options = {{"-q,--queue", "NAME", "of a new job; `default` if left out"},
                               {"--kind", "NAME", "of a new job"},
                               {"--policy", "NAME", "as if a new job chose this one"},
                               {"--worker", "NAME", "as if it ended on this worker"}},
                   .settings = server_settings,
                   .run = explain_policy});
}

void add_inside(std::vector<Command>& all) {
    const Option file{"--file", "FILE", "instead of standard input"};
    const auto add = [&](std::string_view path, std::string_view summary, std::string_view example,
                         std::vector<Word> words, std::vector<Option> options,
                         ExitCode (*run)(Context&)) {
        all.push_back({.path = path,
                       .group = inside_group,
                       .summary = summary,
                       .example = example,
                       .words = std::move(words),
                       .options = std::move(options),
                       .run = run});
    };
    add("progress", "say how far it is", "  perdure progress 40 copying",
        {{"percent", "0 to 100"}, {"text", "for people", How::any}}, {}, send_progress);
    add("checkpoint", "save a state; returns when it is committed",
        "  perdure checkpoint <state.json", {}, {file}, save_checkpoint);
    add("begin", "something starts that must not be repeated; returns when committed",
        "  perdure begin && ./charge-card", {}, {}, send_begin);
    add("verdict", "say what a failure means: retry, permanent, conflict, disconnected, at TIME",
        "  perdure verdict at \"tomorrow 7:30\"; exit 1",
        {{"kind", "retry, permanent, conflict, disconnected or at"},
         {"time", "for `at`", How::optional}},
        {}, send_verdict);
    add("result", "leave a result, JSON", "  echo '{\"rows\": 7}' | perdure result", {}, {file},
        send_result);
}

}  // namespace

const std::vector<Option>& common_options() {
    static const std::vector<Option> options = {
        {"--json", "", "data for programs: one JSON document"},
        {"--utc", "", "times in UTC, not in the time zone of this place (TZ)"},
        {"--config", "FILE", "instead of perdure.toml here, at home or in /etc/perdure"},
        {"--set", "NAME=VALUE", "any setting, like timing.lease=20s; may be repeated", true},
    };
    return options;
}

const std::vector<Command>& commands() {
    static const auto all = [] {
        std::vector<Command> made;
        add_processes(made);
        add_submitting(made);
        add_job_family(made);
        add_relating(made);
        add_recovery(made);
        add_fleet(made);
        add_policies(made);
        add_inside(made);
        add_access(made);
        add_maintenance(made);
        add_others(made);
        return made;
    }();
    return all;
}

const Command* find_command(std::string_view path) {
    for (const auto& command : commands())
        if (command.path == path) return &command;
    return nullptr;
}

}  // namespace perdure::cli
