#include "config/check.h"

#include <fmt/format.h>

#include <array>

#include "base/fault.h"
#include "core/worker/kinds.h"
#include "wire/text_time.h"

namespace perdure {
namespace {

Error refused(const Configuration& configuration, std::string_view name, std::string_view why) {
    for (const auto& effective : configuration.effective) {
        if (effective.setting->name != name) continue;
        const auto& place = effective.origin.place;
        return error(Errc::invalid, fmt::format("{}{}{} = {}: {}", place, place.empty() ? "" : ": ",
                                                name, value_text(effective.value), why));
    }
    return error(Errc::invalid, fmt::format("{}: {}", name, why));
}

// What a reboot or a clean-up of temporary files takes away is no place for a promise [P1].
bool is_temporary(const std::string& path) {
    constexpr std::array places = {std::string_view("/tmp"), std::string_view("/var/tmp"),
                                   std::string_view("/dev/shm"), std::string_view("/run")};
    for (const auto place : places) {
        if (!path.starts_with(place)) continue;
        if (path.size() == place.size() || path[place.size()] == '/') return true;
    }
    return false;
}

std::optional<Error> check_production(const Configuration& configuration) {
    const auto& config = configuration.config;
    if (config.profile != Profile::production) return std::nullopt;
    if (is_temporary(config.data))
        return refused(configuration, "data",
                       "temporary directories do not last; choose another one, or the profile "
                       "development");
    if (is_temporary(config.worker_state))
        return refused(configuration, "worker.state",
                       "temporary directories do not last; choose another one, or the profile "
                       "development");
    if (!config.faults.empty() && !config.allow_faults)
        return refused(configuration, "debug.faults",
                       "faults are not armed in production; remove it, choose the profile "
                       "development, or set debug.allow_faults to true");
    return std::nullopt;
}

// The same relations that core/ownership/timing_test.cpp asks of the defaults.
std::optional<Error> check_timing(const Configuration& configuration) {
    const auto& t = configuration.config.timing;
    if (t.heartbeat * 4 > t.lease)
        return refused(configuration, "timing.lease",
                       fmt::format("it must be at least 4 heartbeats ({} now), so that a lost "
                                   "message costs nothing",
                                   duration_text(t.heartbeat * 4)));
    if (t.heartbeat >= t.suspect)
        return refused(configuration, "timing.heartbeat",
                       fmt::format("a session is suspect after {}; make it shorter",
                                   duration_text(t.suspect)));
    return std::nullopt;
}

std::optional<Error> check_listen(const Configuration& configuration) {
    const auto address = parse_host_port(configuration.config.listen);
    if (address && address->is_loopback()) return std::nullopt;
    return refused(
        configuration, "server.listen",
        "only loopback addresses are served without TLS and tokens, which this version "
        "does not have; listen on 127.0.0.1 and let a proxy or an SSH tunnel lead there");
}

// What a command line says, every account of the host can read.
bool has_password(std::string_view store) {
    if (store.find("password=") != std::string_view::npos) return true;
    const auto begin = store.find("://");
    if (begin == std::string_view::npos) return false;
    const auto rest = store.substr(begin + 3);
    const auto user = rest.substr(0, rest.substr(0, rest.find_first_of("/?")).rfind('@'));
    return user.size() < rest.size() && user.find(':') != std::string_view::npos;
}

std::optional<Error> check_store(const Configuration& configuration) {
    const auto& config = configuration.config;
    if (!config.is_on_postgres()) return std::nullopt;
    const bool is_address =
        config.store.starts_with("postgres://") || config.store.starts_with("postgresql://");
    if (!is_address)
        return refused(configuration, "server.store",
                       "it must be sqlite, or begin with postgres://");
    if (has_password(config.store))
        return error(Errc::invalid,
                     "server.store: a password here could be read by every account of this host: "
                     "put it into ~/.pgpass, or into a file that PGPASSFILE names (mode 600), and "
                     "leave it out here");  // nor is it repeated
    const bool is_name = !config.store_schema.empty() && config.store_schema.size() <= 63 &&
                         config.store_schema.find_first_not_of(
                             "abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
    if (!is_name)
        return refused(configuration, "server.store_schema",
                       "a schema's name has at most 63 of a to z, 0 to 9 and _");
    return std::nullopt;
}

}  // namespace

std::optional<Error> check_together(const Configuration& configuration) {
    if (configuration.config.data.empty())
        return refused(configuration, "data", "it must not be empty");
    if (auto error = check_production(configuration)) return error;
    if (auto error = check_store(configuration)) return error;
    const auto faults = parse_faults(configuration.config.faults);
    if (!faults) return refused(configuration, "debug.faults", faults.error().what);
    if (auto error = check_timing(configuration)) return error;
    const auto kinds = choose_kinds(configuration.config.worker_kinds);
    if (!kinds) return refused(configuration, "worker.kinds", kinds.error().what);
    if (configuration.config.worker_tenants.empty())
        return refused(configuration, "worker.tenants", "a worker needs at least one");
    return check_listen(configuration);
}

}  // namespace perdure
