#include "store/postgres/db/failures.h"

#include <fmt/format.h>

#include <string_view>

namespace perdure::store::postgres {
namespace {

std::string_view field(const PGresult* result, int which) {
    const char* text = PQresultErrorField(result, which);
    return text ? text : "";
}

// Rows contradict each other, or cannot be what we have written.
bool is_contradiction(std::string_view state) {
    const auto of_class = state.substr(0, 2);
    return of_class == "22" || of_class == "23" || of_class == "XX";
}

std::string advice(std::string_view state) {
    if (state == "55P03")
        return ": somebody else holds a lock on a table of Perdure; see pg_stat_activity and "
               "pg_blocking_pids()";
    if (state == "53300") return ": raise max_connections, or end what holds connections";
    if (state == "53100") return ": free space on the database's disk";
    if (state == "42501") return ": grant this role what docs/guides/postgres.md lists";
    return "";
}

}  // namespace

std::string trimmed(const char* message) {
    std::string text = message ? message : "";
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    for (auto& c : text)
        if (c == '\n' || c == '\t') c = ' ';
    return text;
}

bool ends_session(const PGresult* result) {
    const auto severity = field(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    return severity == "FATAL" || severity == "PANIC";
}

Failure failure_of(const PGresult* result) {
    const auto state = field(result, PG_DIAG_SQLSTATE);
    const auto constraint = field(result, PG_DIAG_CONSTRAINT_NAME);
    const auto column = field(result, PG_DIAG_COLUMN_NAME);
    const auto table = field(result, PG_DIAG_TABLE_NAME);
    const bool is_fence = table == "grp" && (column == "ok" || constraint == "grp_ok_check" ||
                                             constraint == "grp_pkey");
    if (is_fence)
        return {error(Errc::fenced, "another keeper has taken this cell, or a group is missing")};
    auto message = trimmed(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
    if (message.empty()) message = trimmed(PQresultErrorMessage(result));
    const auto what = fmt::format("the database says {}: {}{}", state, message, advice(state));
    return {error(is_contradiction(state) ? Errc::corrupt : Errc::unavailable, what)};
}

}  // namespace perdure::store::postgres
