#include "store/postgres/db/checks.h"

#include <fmt/format.h>

#include <cstdlib>

namespace perdure::store::postgres {
namespace {

constexpr int version_min = 140'000;

[[noreturn]] void refuse(std::string why) { throw Failure{error(Errc::invalid, std::move(why))}; }

std::string setting(Connection& connection, const char* name) {
    return connection.text(fmt::format("SHOW {}", name).c_str());
}

}  // namespace

void check_server(Connection& connection, const StorageTerms& terms) {
    const auto version = std::atoi(setting(connection, "server_version_num").c_str());
    if (version < version_min)
        refuse(fmt::format("PostgreSQL {} is too old: 14 or newer is needed", version / 10'000));
    if (connection.text("SELECT pg_is_in_recovery()") == "t")
        throw Failure{error(Errc::unavailable, "this is a standby: it cannot be written")};
    if (terms.durable && setting(connection, "fsync") != "on")
        refuse(
            "the database runs with fsync = off and would lose accepted jobs at a power loss: "
            "set fsync = on and reload it");
    const bool is_whole = terms.trusts_storage || setting(connection, "full_page_writes") == "on";
    if (terms.durable && !is_whole)
        refuse(
            "the database runs with full_page_writes = off: set it on, or start with "
            "--trust-storage if its storage never tears a page");
    const auto logged = setting(connection, "log_parameter_max_length");
    const bool logs_all = setting(connection, "log_statement") == "all" ||
                          setting(connection, "log_min_duration_statement") != "-1";
    if (terms.warn && logs_all && logged != "0")
        terms.warn(
            "the database logs the parameters of statements, and with them what jobs are "
            "given: set log_parameter_max_length = 0");
}

Generation generation_of(Connection& connection) {
    return {
        .system = connection.text("SELECT system_identifier FROM pg_control_system()"),
        .timeline = connection.text("SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)")};
}

}  // namespace perdure::store::postgres
