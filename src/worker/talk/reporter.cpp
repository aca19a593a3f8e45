#include "worker/talk/reporter.h"

#include <iterator>
#include <utility>

#include "base/fault.h"
#include "base/probe.h"
#include "base/zoo.h"
#include "core/worker/worker_rules.h"

namespace perdure {
namespace {

constexpr std::size_t batch_max = 2000;

using Kind = ReportItem::Kind;

// What is not an answer to this kind of item is repeated like one that was not decided.
bool is_final(Kind kind, ItemAnswer answer) {
    if (answer == ItemAnswer::fenced) return true;
    return answer == (kind == Kind::ask ? ItemAnswer::go : ItemAnswer::ok);
}

// With what was not delivered of its output (O1).
EvidenceRef evidence_of(const Attempt& attempt) {
    if (attempt.output_undelivered == 0) return attempt.evidence;
    auto evidence = attempt.evidence ? std::make_shared<Evidence>(*attempt.evidence)
                                     : std::make_shared<Evidence>();
    evidence->output_undelivered = attempt.output_undelivered;
    return evidence;
}

}  // namespace

Reporter::Reporter(WorkerContext& context, AttemptTable& table, WorkerSession& session,
                   Supervisor& supervisor, Watch& watch)
    : context_(context),
      table_(table),
      session_(session),
      supervisor_(supervisor),
      watch_(watch),
      backoff_(context.ports.random, context.options.timing.reconnect_max),
      pause_(context.make_alarm()) {}

Task<void> Reporter::run() {
    while (!context_.stop.requested()) {
        watch_.before_sending();
        auto statements = collect();
        if (statements.empty()) {
            co_await context_.report_bell->wait(idle_wait);
            continue;
        }
        const bool answered = co_await report_once(std::move(statements));
        if (answered) {
            backoff_.reset();
        } else if (!context_.stop.requested()) {
            co_await pause_->wait(backoff_.next());
        }
    }
}

std::vector<Reporter::Statement> Reporter::collect() {
    std::vector<Statement> statements;
    const auto now = context_.now();
    std::erase_if(aside_, [&](const auto& entry) {
        return !table_.contains(entry.first) || entry.second.until <= now;
    });
    if (!session_.is_open()) return statements;
    for (const auto& [key, attempt] : table_.all()) {
        if (statements.size() == batch_max) break;
        auto statement = next_statement(key, attempt, now);
        if (statement && !is_aside(*statement)) statements.push_back(std::move(*statement));
    }
    return statements;
}

bool Reporter::is_aside(const Statement& statement) const {
    const auto found = aside_.find(statement.item.attempt);
    return found != aside_.end() && found->second.kind == statement.item.kind &&
           found->second.serial == statement.serial;
}

std::optional<Reporter::Statement> Reporter::next_statement(AttemptKey key, const Attempt& attempt,
                                                            BootTime now) const {
    using Phase = Attempt::Phase;
    if (attempt.phase == Phase::ended) {
        if (attempt.has_new_output) return std::nullopt;  // first what it printed (log_shipper.h)
        return Statement{{.attempt = key,
                          .kind = Kind::ended,
                          .end = attempt.end,
                          .evidence = evidence_of(attempt),
                          .age = now - attempt.ended_at}};
    }

    const bool waits = attempt.phase == Phase::prepared || attempt.phase == Phase::ordered;
    const auto ask = decide_ask({.asks = attempt.terms.asks,
                                 .prepared = waits,
                                 .started = attempt.phase == Phase::running,
                                 .killed = attempt.killed_as.has_value(),
                                 .may_start = context_.mode == WorkerMode::working,
                                 .lease_is_good = supervisor_.may_begin(attempt.terms),
                                 .go_until = attempt.go_until,
                                 .now = now});
    if (ask.ask) {
        if (attempt.go_until) reached<"worker_asks_again_after_an_expired_go">();
        return Statement{{.attempt = key, .kind = Kind::ask}};
    }
    if (attempt.phase != Phase::running) return std::nullopt;
    if (!attempt.start_is_known) return Statement{{.attempt = key, .kind = Kind::started}};
    if (attempt.progress.empty()) return std::nullopt;

    const auto& progress = attempt.progress.front();
    const bool begin = progress.kind == ProcessEvent::Kind::begin;
    return Statement{{.attempt = key,
                      .kind = begin ? Kind::begin : Kind::checkpoint,
                      .checkpoint = progress.checkpoint,
                      .number = progress.number},
                     progress.serial};
}

Task<bool> Reporter::report_once(std::vector<Statement> statements) {
    if (context_.stop.requested() || !session_.is_open()) co_return false;
    Sent sent{session_.id(), context_.now(), *session_.lease_until(), std::move(statements)};
    ReportRequest request{.session = sent.session};
    request.items.reserve(sent.statements.size());
    for (const auto& statement : sent.statements) request.items.push_back(statement.item);

    const auto server = session_.server();
    if (strikes(Fault::worker_report_lost)) {
        failed(sent, server, error(Errc::unavailable, "fault point worker.report_lost"));
        co_return false;
    }
    auto response = co_await context_.ports.servers.report(server, std::move(request));
    if (response.is(Errc::invalid))
        co_return co_await refused(std::move(sent.statements), response.error());
    if (!response) {
        failed(sent, server, response.error());
        co_return false;
    }
    if (response->answers.size() != sent.statements.size()) {
        failed(sent, server, error(Errc::corrupt, "not one answer for each item"));
        co_return false;
    }
    co_return apply_answers(sent, response->answers);
}

Task<bool> Reporter::refused(std::vector<Statement> statements, Error why) {
    watch_.before_sending();
    const RefusedFacts facts{.items = statements.size(),
                             .has_evidence = statements.front().item.evidence != nullptr};
    switch (decide_refused(facts)) {
        case RefusedDecision::halve: co_return co_await report_halves(std::move(statements));
        case RefusedDecision::without_evidence: {
            const auto attempt = statements.front().item.attempt;
            context_.log.write(Level::error, "the server cannot read what is known about an end",
                               "job", attempt.job.text(), "epoch", attempt.epoch.value, "why",
                               why.what, "next", "its end is reported without that");
            statements.front().item.evidence = nullptr;
            co_return co_await report_once(std::move(statements));
        }
        case RefusedDecision::set_aside: set_aside(statements.front(), why); break;
    }
    co_return true;
}

Task<bool> Reporter::report_halves(std::vector<Statement> statements) {
    const auto middle = statements.begin() + static_cast<std::ptrdiff_t>(statements.size() / 2);
    std::vector<Statement> second(std::make_move_iterator(middle),
                                  std::make_move_iterator(statements.end()));
    statements.erase(middle, statements.end());
    const bool first_settled = co_await report_once(std::move(statements));
    const bool second_settled = co_await report_once(std::move(second));
    co_return first_settled&& second_settled;
}

void Reporter::set_aside(const Statement& statement, const Error& why) {
    const auto& item = statement.item;
    context_.log.write(Level::error, "the server cannot take a report: it is repeated in a while",
                       "job", item.attempt.job.text(), "epoch", item.attempt.epoch.value, "cause",
                       to_string(item.end.cause), "exit_code", item.end.exit_code, "why", why.what);
    aside_[item.attempt] = {item.kind, statement.serial, context_.now() + idle_wait};
}

void Reporter::failed(const Sent& sent, std::size_t server, const Error& why) {
    reached<"worker_report_failed">();
    context_.log.write(Level::info, "report failed, will repeat it", "items",
                       sent.statements.size(), "server", server, "why", why.what);
    if (why.code == Errc::fenced) context_.heartbeat_bell->ring();  // is the session over?
    if (why.code != Errc::overloaded) session_.move_on(server);
    if (!zoo(Bug::result_forgotten_when_report_is_lost)) return;
    for (const auto& statement : sent.statements)
        if (statement.item.kind == Kind::ended) supervisor_.acknowledge(statement.item.attempt);
}

bool Reporter::apply_answers(const Sent& sent, const std::vector<ItemAnswer>& answers) {
    bool all = true;
    for (std::size_t i = 0; i < answers.size(); ++i)
        if (!apply_answer(sent.statements[i], answers[i], sent)) all = false;
    return all;
}

bool Reporter::apply_answer(const Statement& statement, ItemAnswer answer, const Sent& sent) {
    const auto key = statement.item.attempt;
    if (answer == ItemAnswer::damaged) {
        set_aside(statement, error(Errc::corrupt, "its row in the store cannot be understood"));
        return true;
    }
    if (!is_final(statement.item.kind, answer)) {
        reached<"worker_report_undecided">();
        return false;
    }
    // What an ended session may do says nothing about the one that took its attempts over.
    if (!session_.is(sent.session) && answer != ItemAnswer::ok) {
        reached<"worker_answer_for_an_ended_session">();
        return false;
    }
    const bool fenced = answer == ItemAnswer::fenced;
    switch (statement.item.kind) {
        case Kind::ended: supervisor_.acknowledge(key); return true;
        case Kind::ask:
            if (!fenced) supervisor_.go(key, sent.at, sent.lease_until);
            break;
        case Kind::started:
            if (auto* attempt = table_.find(key); attempt && !fenced)
                attempt->start_is_known = true;
            break;
        case Kind::begin:
        case Kind::checkpoint: supervisor_.answer_progress(key, statement.serial, !fenced); break;
    }
    if (fenced) {
        reached<"worker_fenced">();
        supervisor_.disown(key);
    }
    return true;
}

}  // namespace perdure
