// GET /v1/jobs/ID/policy, GET /v1/policy, GET /v1/policies: what would happen for every cause.
#include "core/policy/explain_policy.h"

#include <array>

#include "api/handlers/handlers.h"
#include "api/handlers/reading.h"
#include "api/http/query.h"
#include "core/policy/custom_policy.h"
#include "core/policy/policy_book.h"
#include "wire/job_json.h"
#include "wire/json_writer.h"
#include "wire/policy_json.h"
#include "wire/text_time.h"

namespace perdure::handlers {
namespace {

void write_ends(JsonWriter& out, const Outlook& line) {
    out.key("causes");
    out.begin_array();
    for (const auto& end : line.ends)
        out.value(std::string(to_string(end.cause)) + (end.alone ? " alone" : ""));
    out.end_array();
}

void write_conditions(JsonWriter& out, const CustomRule& rule) {
    if (!rule.exit_codes.empty()) {
        out.key("exit_codes");
        out.begin_array();
        for (const auto code : rule.exit_codes) out.value(code);
        out.end_array();
    }
    if (!rule.text.empty()) out.field("text", rule.text);
}

void write_count(JsonWriter& out, std::string_view name, std::uint32_t count) {
    if (count == PolicyRule::always)
        out.field(name, "always");
    else
        out.field(name, count);
}

void write_next(JsonWriter& out, const Next& next) {
    switch (next.kind) {
        case Next::Kind::again_now: out.field("next", "now"); break;
        case Next::Kind::again_after:
            out.field("next", "later");
            out.field("wait", duration_text(next.wait));
            break;
        case Next::Kind::again_on: out.field("next", "at"); break;
        case Next::Kind::ended: out.field("next", to_string(next.state)); break;
    }
    if (next.kind != Next::Kind::ended) out.flag("another_worker", next.another_worker);
    out.flag("may_have_run", next.may_have_run);
    out.flag("alarming", next.alarming);
    out.field("rule", next.rule);
}

constexpr std::array<std::string_view, 4> then_states = {"failed", "quarantined", "expired",
                                                         "cancelled"};
static_assert(static_cast<int>(LastResort::cancel) == 3);

void write_line(JsonWriter& out, const Outlook& line, const PolicyChoice& policy) {
    const auto times = line.line.times;
    const auto left = times == PolicyRule::always ? times : times - std::min(times, line.used);
    out.begin_object();
    write_ends(out, line);
    if (line.rule_number > 0) write_conditions(out, policy.rules[line.rule_number - 1U]);
    write_next(out, line.next);
    out.field("used", line.used);
    write_count(out, "times", times);
    write_count(out, "left", left);
    out.field("then", then_states[static_cast<std::size_t>(line.line.then)]);
    out.end_object();
}

void write_outlook(JsonWriter& out, const OutlookFacts& facts) {
    out.key("policy");
    write_policy(out, facts.policy);
    out.field("effects", to_string(facts.effects));
    out.key("lines");
    out.begin_array();
    for (const auto& line : explain_policy(facts)) write_line(out, line, facts.policy);
    out.end_array();
}

// The attempt that runs now is the one whose end is asked about: it counts for nothing yet.
CauseCounts counts_of(const JobView& job, const PolicyChoice& policy) {
    std::vector<const AttemptEnd*> ends;
    for (const auto& attempt : job.attempts) {
        const bool runs = job.run && job.run->attempt.epoch == attempt.epoch;
        if (attempt.generation != job.generation || runs) continue;
        ends.push_back(attempt.end ? &*attempt.end : nullptr);
    }
    return count_causes(ends, policy);
}

void write_names(JsonWriter& out, std::string_view name,
                 const PolicyBook::ByName<std::string>& names) {
    out.key(name);
    out.begin_object();
    for (const auto& [of, policy] : names) {
        out.key(of);
        out.value(policy);
    }
    out.end_object();
}

// What judges on the worker of this name, as this server's configuration has it.
PolicyChoice on_worker(const PolicyBook& book, const PolicyChoice& job, const std::string& worker) {
    const auto of_worker = decide_worker_policy(book, worker);
    return policy_for_attempt(job, of_worker ? &*of_worker : nullptr);
}

// Where else the answer is another one: only for what has inherited the server's policy.
void write_workers(JsonWriter& out, const PolicyBook& book, const PolicyChoice& job) {
    if (is_left_to_worker(job) && !book.of_worker.empty())
        write_names(out, "workers", book.of_worker);
}

}  // namespace

Task<Response> explain_policy_of_job(Api& api, const Request& request) {
    const auto id = job_of(request);
    if (!id) co_return problem(id.error());
    QueryReader query(request);
    auto worker = query.text("worker");
    if (const auto parse_error = query.finish()) co_return problem(*parse_error);
    const JobQuery wanted{.job = *id};
    auto shown = co_await api.catalogue.job(wanted, terms_of(request));
    if (!shown) co_return problem(shown.error());
    const auto* job = &shown->job;
    const auto& book = api.server.jobs().book();
    auto policy = job->spec->policy;
    if (worker) {
        policy = on_worker(book, policy, *worker);
    } else if (job->run) {
        policy = deciding_policy(*job->run);
        const auto& names = shown->workers;
        if (const auto found = names.find(job->run->session); found != names.end())
            worker = found->second;
    }
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.field("id", job->id);
    out.field("state", to_string(job->state));
    out.field("generation", job->generation);
    if (worker) out.field("worker", *worker);
    const OutlookFacts facts{policy, job->spec->effects, counts_of(*job, policy)};
    out.flag("by_worker_policy", policy.level == PolicyLevel::worker);
    write_outlook(out, facts);
    write_workers(out, book, job->spec->policy);
    out.end_object();
    co_return response;
}

// What a job would get that says nothing about its policy.
Task<Response> explain_policy_for(Api& api, const Request& request) {
    QueryReader query(request);
    JobRequest wanted;
    wanted.spec.queue = query.text("queue").value_or("default");
    wanted.spec.kind = query.text("kind").value_or("");
    if (const auto name = query.text("policy")) {
        wanted.spec.policy.custom = *name;
        wanted.policy = PolicyOrigin::chosen;
    }
    const auto worker = query.text("worker");
    if (const auto parse_error = query.finish()) co_return problem(*parse_error);
    const auto& book = api.server.jobs().book();
    const auto decided = decide_policy(book, wanted.spec, wanted.policy);
    if (decided.refused) co_return problem(error(Errc::invalid, decided.refused->what), "?policy");
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    const auto policy = worker ? on_worker(book, decided.policy, *worker) : decided.policy;
    out.field("from", to_string(worker ? policy.level : decided.level));
    if (worker) out.field("worker", *worker);
    const OutlookFacts facts{.policy = policy};
    write_outlook(out, facts);
    write_workers(out, book, decided.policy);
    out.end_object();
    co_return response;
}

Task<Response> list_policies(Api& api, const Request& request) {
    if (const auto parse_error = expect_nothing(request)) co_return problem(*parse_error);
    const auto& book = api.server.jobs().book();
    Response response;
    JsonWriter out(response.body);
    out.begin_object();
    out.key("policies");
    out.begin_array();
    for (const auto name : {PolicyName::default_, PolicyName::never, PolicyName::forever}) {
        out.begin_object();
        out.field("name", to_string(name));
        out.field("built_in", true);
        out.end_object();
    }
    for (const auto& [name, policy] : book.named) {
        out.begin_object();
        out.field("name", name);
        out.field("base", to_string(policy.name));
        out.key("rules");
        write_rules(out, policy.rules);
        out.end_object();
    }
    out.end_array();
    out.field("server", book.of_server);
    write_names(out, "queues", book.of_queue);
    write_names(out, "kinds", book.of_kind);
    write_names(out, "workers", book.of_worker);
    out.end_object();
    co_return response;
}

}  // namespace perdure::handlers
