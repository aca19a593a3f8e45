// GET /v1/account: what ended attempts have used, added up. Each answer walks over a bounded number
// of jobs, from id to id, and says where the next one goes on; whoever wants the whole adds up.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "wire/json_writer.h"
#include "wire/text_time.h"

namespace perdure::handlers {
namespace {

constexpr std::uint32_t jobs_at_once = 500;
constexpr std::size_t names_max = 1'000;  // of an answer; the rest is one line
constexpr std::string_view others = "(others)";
constexpr std::string_view all_tenants = "*";

enum class By { queue, kind, tenant, user, worker, host };
constexpr std::array<std::string_view, 6> by_names = {"queue", "kind",   "tenant",
                                                      "user",  "worker", "host"};

struct AccountWanted {
    By by = By::queue;
    std::string tenant;
    WallTime since;
};

struct Sum {
    std::uint64_t attempts = 0;
    std::uint64_t unknown = 0;  // attempts that nobody told anything of
    Duration ran_for;
    Usage usage;
    std::uint64_t peak_memory = 0;  // the greatest

    void add(const AttemptView& attempt) {
        ++attempts;
        if (!attempt.evidence || attempt.evidence->usage == Usage{}) ++unknown;
        if (!attempt.evidence) return;
        const auto& evidence = *attempt.evidence;
        ran_for = ran_for + evidence.ran_for;
        usage.cpu_user = usage.cpu_user + evidence.usage.cpu_user;
        usage.cpu_system = usage.cpu_system + evidence.usage.cpu_system;
        usage.read_bytes += evidence.usage.read_bytes;
        usage.write_bytes += evidence.usage.write_bytes;
        peak_memory = std::max(peak_memory, evidence.peak_memory);
    }
};
using Sums = std::map<std::string, Sum, std::less<>>;

bool counts(const AttemptView& attempt, const AccountWanted& wanted) {
    return attempt.end && attempt.ended_on && *attempt.ended_on >= wanted.since;
}

std::string name_of(const JobView& job, const AttemptView& attempt, const AccountWanted& wanted,
                    const SessionNames& workers) {
    switch (wanted.by) {
        case By::queue: return job.spec->queue;
        case By::kind: return job.spec->kind.empty() ? "(commands)" : job.spec->kind;
        case By::tenant: return job.spec->tenant;
        case By::user: return job.spec->submitted_by.name;
        case By::host: return attempt.evidence ? attempt.evidence->host : "";
        case By::worker: break;
    }
    const auto found = workers.find(attempt.session);
    return found == workers.end() ? "(gone)" : found->second;
}

// Sessions are forgotten some time after they have ended: then nobody knows their worker.
Task<Result<SessionNames>> read_workers_of(Api& api, const Request& request,
                                           const AuditView& view) {
    std::set<SessionId> sessions;
    for (const auto& job : view.jobs)
        for (const auto& attempt : job.attempts) sessions.insert(attempt.session);
    const std::vector<SessionId> named(sessions.begin(), sessions.end());
    auto owners = co_await api.catalogue.owners(named, terms_of(request));
    if (!owners) co_return owners.error();
    SessionNames names;
    for (const auto& owner : *owners) names[owner.session] = owner.worker;
    co_return names;
}

void add_up(const AuditView& view, const AccountWanted& wanted, const SessionNames& workers,
            Sums& sums) {
    for (const auto& job : view.jobs) {
        if (wanted.tenant != all_tenants && job.spec->tenant != wanted.tenant) continue;
        for (const auto& attempt : job.attempts) {
            if (!counts(attempt, wanted)) continue;
            auto name = name_of(job, attempt, wanted, workers);
            if (name.empty()) name = "(not known)";
            if (sums.size() >= names_max && !sums.contains(name)) name = others;
            sums[std::move(name)].add(attempt);
        }
    }
}

void write_sum(JsonWriter& out, const std::string& name, const Sum& sum) {
    out.begin_object();
    out.field("name", name);
    out.field("attempts", sum.attempts);
    if (sum.unknown > 0) out.field("unknown", sum.unknown);
    out.field("ran_for", duration_text(sum.ran_for));
    out.field("cpu_user", duration_text(sum.usage.cpu_user));
    out.field("cpu_system", duration_text(sum.usage.cpu_system));
    out.field("read_bytes", sum.usage.read_bytes);
    out.field("write_bytes", sum.usage.write_bytes);
    out.field("peak_memory", sum.peak_memory);
    out.end_object();
}

}  // namespace

Task<Response> show_account(Api& api, const Request& request) {
    QueryReader query(request);
    AccountWanted wanted{.tenant = query.tenant()};
    std::optional<By> by;
    read_name(query, "by", std::span<const std::string_view>(by_names), by);
    wanted.by = by.value_or(By::queue);
    if (const auto since = query.text("since")) {
        const auto at = time_value(*since);
        if (!at) query.parse_error("since", "must be a time like 2026-11-15T09:30:00Z");
        wanted.since = at.value_or(WallTime{});
    }
    // Not from the very beginning, where other rows than jobs stand.
    AuditPlace from{.job = JobId{1}};
    if (const auto after = query.text("after")) {
        const auto id = JobId::parse(*after);
        if (!id) query.parse_error("after", "must be what `next` said");
        from.job = id.value_or(from.job);
    }
    if (const auto parse_error = query.finish()) co_return problem(*parse_error);
    Sums sums;
    std::optional<JobId> next;
    PageWalk walk(api, request);
    do {
        const auto view = co_await api.server.jobs().audit(from, jobs_at_once);
        if (!view) co_return problem(view.error());
        SessionNames workers;
        if (wanted.by == By::worker) {
            auto read = co_await read_workers_of(api, request, *view);
            if (!read) co_return problem(read.error());
            workers = std::move(*read);
        }
        add_up(*view, wanted, workers, sums);
        next.reset();
        if (view->next) next = view->next->job;
        from.job = next.value_or(from.job);
    } while (next && walk.goes_on());
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.field("by", by_names[static_cast<std::size_t>(wanted.by)]);
    out.key("lines");
    out.begin_array();
    for (const auto& [name, sum] : sums) write_sum(out, name, sum);
    out.end_array();
    if (next) out.field("next", *next);
    out.end_object();
    co_return response;
}

}  // namespace perdure::handlers
