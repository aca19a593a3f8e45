#include "config/settings.h"

#include <array>

namespace perdure {
namespace {

using Names = std::vector<std::string>;

const std::string& text(const Value& value) { return std::get<std::string>(value); }
const Names& names(const Value& value) { return std::get<Names>(value); }

template <Duration Timing::*field>
void store_timing(Config& config, const Value& value) {
    config.timing.*field = std::get<Duration>(value);
}

template <Duration Timing::*field>
constexpr Setting timing(std::string_view name, std::string_view standard, std::string_view about,
                         std::string_view environment, Duration min, Duration max) {
    return {.name = name,
            .type = SettingType::duration,
            .standard = standard,
            .about = about,
            .environment = environment,
            .min = min.us,
            .max = max.us,
            .store = store_timing<field>};
}

Level level_of(std::string_view name) {
    for (const auto level : {Level::debug, Level::info, Level::warn, Level::error})
        if (to_string(level) == name) return level;
    return Level::critical;
}

constexpr std::array table = {
    Setting{.name = "profile",
            .type = SettingType::choice,
            .standard = "development",
            .about = "which defaults to take, and whether to refuse what only suits trying out",
            .environment = "PERDURE_PROFILE",
            .flag = "--profile",
            .choices = "development|production",
            .store =
                [](Config& c, const Value& v) {
                    c.profile =
                        text(v) == "production" ? Profile::production : Profile::development;
                }},
    Setting{.name = "data",
            .type = SettingType::path,
            .standard = "~/.local/share/perdure",
            .production = "/var/lib/perdure",
            .about = "directory of the server: its database, its logs of jobs, its lock",
            .environment = "PERDURE_DATA",
            .flag = "--data",
            .store = [](Config& c, const Value& v) { c.data = text(v); }},
    Setting{.name = "server.store",
            .type = SettingType::text,
            .standard = "sqlite",
            .about = "where jobs are kept: sqlite (in `data`), or postgres://USER@HOST/DATABASE; "
                     "its password comes from a file (PGPASSFILE)",
            .environment = "PERDURE_STORE",
            .flag = "--store",
            .store = [](Config& c, const Value& v) { c.store = text(v); }},
    Setting{.name = "server.store_schema",
            .type = SettingType::text,
            .standard = "perdure",
            .about = "schema of the PostgreSQL database that is this cell; one server keeps it",
            .environment = "PERDURE_STORE_SCHEMA",
            .store = [](Config& c, const Value& v) { c.store_schema = text(v); }},
    Setting{.name = "server.listen",
            .type = SettingType::address,
            .standard = "127.0.0.1:7373",
            .about = "where the server listens; port 0 takes a free one and says which",
            .environment = "PERDURE_LISTEN",
            .flag = "--listen",
            .store = [](Config& c, const Value& v) { c.listen = text(v); }},
    Setting{.name = "server.urls",
            .type = SettingType::urls,
            .standard = "(the socket `api` in the data directory, then http://127.0.0.1:7373)",
            .about = "where commands and workers find the server; several are tried in turn",
            .environment = "PERDURE_SERVER",
            .flag = "--server",
            .store = [](Config& c, const Value& v) { c.servers = names(v); }},
    Setting{.name = "server.users",
            .type = SettingType::words,
            .about = "accounts whose server is believed over TCP, besides this one and root",
            .environment = "PERDURE_SERVER_USERS",
            .store = [](Config& c, const Value& v) { c.server_users = names(v); }},
    Setting{.name = "server.token_file",
            .type = SettingType::path,
            .about = "file with the token of commands and workers, readable by this user alone",
            .environment = "PERDURE_TOKEN_FILE",
            .flag = "--token-file",
            .store = [](Config& c, const Value& v) { c.token_file = text(v); }},
    Setting{.name = "access.users",
            .type = SettingType::accounts,
            .about = "accounts that need no token on this host: NAME (submitter) or NAME:ROLE",
            .environment = "PERDURE_ALLOW_USERS",
            .flag = "--allow-user",
            .store = [](Config& c, const Value& v) { c.access_users = names(v); }},
    Setting{.name = "access.trust_root",
            .type = SettingType::choice,
            .standard = "true",
            .about = "whether root needs no token",
            .environment = "PERDURE_TRUST_ROOT",
            .choices = "false|true",
            .store = [](Config& c, const Value& v) { c.trusts_root = text(v) == "true"; }},
    Setting{.name = "server.in_flight_mib",
            .type = SettingType::count,
            .standard = "64",
            .about = "MiB that requests, answers and streams under way may take together",
            .environment = "PERDURE_IN_FLIGHT_MIB",
            .min = 32,
            .max = 65'536,
            .store =
                [](Config& c, const Value& v) {
                    c.bytes_in_flight = static_cast<std::uint64_t>(std::get<std::int64_t>(v)) << 20;
                }},
    Setting{.name = "server.reserve_mib",
            .type = SettingType::count,
            .standard = "256",
            .about = "MiB of the data's disk that new jobs leave free, at most 5 % of it",
            .environment = "PERDURE_RESERVE_MIB",
            .min = 0,
            .max = 1'048'576,
            .store =
                [](Config& c, const Value& v) {
                    c.space_reserve = static_cast<std::uint64_t>(std::get<std::int64_t>(v)) << 20;
                }},
    Setting{.name = "worker.name",
            .type = SettingType::text,
            .standard = "(the host's name)",
            .about = "how the worker is called in lists and logs",
            .environment = "PERDURE_WORKER_NAME",
            .flag = "--name",
            .store = [](Config& c, const Value& v) { c.worker_name = text(v); }},
    Setting{.name = "worker.slots",
            .type = SettingType::count,
            .standard = "(one for each CPU)",
            .about = "how many attempts run at the same time",
            .environment = "PERDURE_WORKER_SLOTS",
            .flag = "--slots",
            .min = 1,
            .max = 10'000,
            .store =
                [](Config& c, const Value& v) {
                    c.worker_slots = static_cast<std::uint32_t>(std::get<std::int64_t>(v));
                }},
    Setting{.name = "worker.queues",
            .type = SettingType::names,
            .about = "take jobs of these queues only; empty: of all",
            .environment = "PERDURE_WORKER_QUEUES",
            .flag = "--queues",
            .store = [](Config& c, const Value& v) { c.worker_queues = names(v); }},
    Setting{.name = "worker.kinds",
            .type = SettingType::names,
            .about = "take jobs of these kinds only; empty: of all",
            .environment = "PERDURE_WORKER_KINDS",
            .flag = "--kinds",
            .store = [](Config& c, const Value& v) { c.worker_kinds = names(v); }},
    Setting{.name = "worker.state",
            .type = SettingType::path,
            .standard = "(`worker` in the data directory)",
            .about = "directory of the worker: what it runs, and results not yet reported",
            .environment = "PERDURE_WORKER_STATE",
            .flag = "--state",
            .store = [](Config& c, const Value& v) { c.worker_state = text(v); }},
    Setting{.name = "worker.user",
            .type = SettingType::text,
            .about = "name or uid under which jobs run; empty: the worker's own",
            .environment = "PERDURE_WORKER_USER",
            .flag = "--user",
            .store = [](Config& c, const Value& v) { c.worker_user = text(v); }},
    Setting{.name = "worker.secrets",
            .type = SettingType::path,
            .standard = "(`job-secrets` in the data directory)",
            .about = "directory of the worker: a file for each secret that jobs name, and its list",
            .environment = "PERDURE_WORKER_SECRETS",
            .store = [](Config& c, const Value& v) { c.worker_secrets = text(v); }},
    Setting{.name = "worker.cgroup",
            .type = SettingType::path,
            .about = "cgroup (v2) in which the groups of jobs are made; empty: below the worker's",
            .environment = "PERDURE_WORKER_CGROUP",
            .store = [](Config& c, const Value& v) { c.worker_cgroup = text(v); }},
    Setting{.name = "webhooks.secrets",
            .type = SettingType::path,
            .standard = "(`secrets` in the data directory)",
            .about = "directory of the worker: a file for each secret that signs webhooks",
            .environment = "PERDURE_WEBHOOK_SECRETS",
            .store = [](Config& c, const Value& v) { c.webhook_secrets = text(v); }},
    Setting{.name = "webhooks.allow_private",
            .type = SettingType::networks,
            .about = "networks that are not public and may get webhooks from this worker",
            .environment = "PERDURE_WEBHOOK_ALLOW_PRIVATE",
            .store = [](Config& c, const Value& v) { c.webhook_allow_private = names(v); }},
    timing<&Timing::heartbeat>("timing.heartbeat", "2s", "how often a worker renews its lease",
                               "PERDURE_HEARTBEAT", milliseconds(100), minutes(10)),
    timing<&Timing::lease>("timing.lease", "10s",
                           "how long a silent worker keeps its jobs; at least 4 heartbeats",
                           "PERDURE_LEASE", seconds(5), hours(1)),
    timing<&Timing::hold>("timing.hold", "5m",
                          "how long a job goes on without its server; see the glossary",
                          "PERDURE_HOLD", Duration{}, days(30)),
    timing<&Timing::kill_grace>("timing.kill_grace", "5s",
                                "time between SIGTERM and SIGKILL for a job", "PERDURE_KILL_GRACE",
                                Duration{}, hours(1)),
    timing<&Timing::drain>("timing.drain", "30s", "how long a stopping worker waits for what runs",
                           "PERDURE_DRAIN", Duration{}, days(7)),
    timing<&Timing::detach_lease>("timing.detach_lease", "60s",
                                  "how long jobs of a detached worker wait for the next one",
                                  "PERDURE_DETACH_FOR", seconds(10), hours(1)),
    timing<&Timing::probation_step>("timing.probation_step", "20s",
                                    "after 3 crashes in a minute a worker takes one more job, and "
                                    "twice as many after each such time; 0s: no such probation",
                                    "PERDURE_PROBATION_STEP", Duration{}, hours(1)),
    timing<&Timing::suspect_alone>("timing.suspect_alone", "5m",
                                   "how long a job that may have killed its worker waits for one "
                                   "that runs nothing else",
                                   "PERDURE_SUSPECT_ALONE", Duration{}, days(30)),
    timing<&Timing::retention>("timing.retention", "14d", "how long ended jobs are kept",
                               "PERDURE_RETENTION", minutes(1), days(3650)),
    timing<&Timing::unresolved>("timing.unresolved", "365d",
                                "how long quarantined jobs are kept that nobody dealt with",
                                "PERDURE_UNRESOLVED", hours(1), days(3650)),
    timing<&Timing::keep_key>("timing.keep_key", "30d",
                              "how long an idempotency key outlives its job", "PERDURE_KEEP_KEY",
                              minutes(1), days(3650)),
    timing<&Timing::held_by_person>("timing.held_by_person", "30d",
                                    "how long a person may hold a job before it expires",
                                    "PERDURE_HELD_BY_PERSON", minutes(1), days(3650)),
    Setting{.name = "policy",
            .type = SettingType::text,
            .standard = "default",
            .about = "policy of jobs for which neither job, kind, queue nor worker names one",
            .environment = "PERDURE_POLICY",
            .store = [](Config& c, const Value& v) { c.policy = text(v); }},
    Setting{.name = "log.level",
            .type = SettingType::choice,
            .standard = "info",
            .about = "the least that is logged",
            .environment = "PERDURE_LOG_LEVEL",
            .flag = "--log-level",
            .choices = "debug|info|warn|error|critical",
            .store = [](Config& c, const Value& v) { c.log_level = level_of(text(v)); }},
    Setting{.name = "log.format",
            .type = SettingType::choice,
            .standard = "logfmt",
            .production = "json",
            .about = "the form of a log line",
            .environment = "PERDURE_LOG_FORMAT",
            .flag = "--log-format",
            .choices = "logfmt|json",
            .store =
                [](Config& c, const Value& v) {
                    c.log_format = text(v) == "json" ? LogFormat::json : LogFormat::logfmt;
                }},
    Setting{.name = "log.file",
            .type = SettingType::path,
            .about = "where the log goes, reopened on SIGHUP; empty: standard error",
            .environment = "PERDURE_LOG_FILE",
            .flag = "--log-file",
            .store = [](Config& c, const Value& v) { c.log_file = text(v); }},
    Setting{.name = "log.failure",
            .type = SettingType::choice,
            .standard = "error",
            .about = "how loud the end of a failed job is, unless the job says so",
            .environment = "PERDURE_LOG_FAILURE",
            .choices = "debug|info|warn|error|critical",
            .store = [](Config& c, const Value& v) { c.failure_level = level_of(text(v)); }},
    Setting{
        .name = "log.callback_failure",
        .type = SettingType::choice,
        .standard = "critical",
        .about = "the same for callbacks",
        .environment = "PERDURE_LOG_CALLBACK_FAILURE",
        .choices = "debug|info|warn|error|critical",
        .store = [](Config& c, const Value& v) { c.callback_failure_level = level_of(text(v)); }},
    Setting{.name = "debug.faults",
            .type = SettingType::words,
            .about = "fault points to arm, see `perdure faults`; refused in production",
            .environment = "PERDURE_FAULTS",
            .store = [](Config& c, const Value& v) { c.faults = names(v); }},
    Setting{.name = "debug.allow_faults",
            .type = SettingType::choice,
            .standard = "false",
            .about = "arm fault points in production all the same",
            .environment = "PERDURE_ALLOW_FAULTS",
            .choices = "false|true",
            .store = [](Config& c, const Value& v) { c.allow_faults = text(v) == "true"; }},
};

}  // namespace

std::span<const Setting> settings() { return table; }

const Setting* find_setting(std::string_view name) {
    for (const auto& setting : table)
        if (setting.name == name) return &setting;
    return nullptr;
}

}  // namespace perdure
