#include "worker/talk/log_shipper.h"

#include <algorithm>
#include <utility>

#include "base/probe.h"

namespace perdure {
namespace {

constexpr std::size_t chunks_max = 16;
constexpr auto again_after = milliseconds(200);
constexpr std::size_t counted_at_once = std::size_t{1} << 20;

using Phase = Attempt::Phase;

}  // namespace

LogShipper::LogShipper(WorkerContext& context, AttemptTable& table, WorkerSession& session)
    : context_(context),
      table_(table),
      session_(session),
      backoff_(context.ports.random, context.options.timing.reconnect_max),
      pause_(context.make_alarm()) {}

Task<void> LogShipper::run() {
    while (!context_.stop.requested()) {
        co_await give_up_late_output();
        auto chunks = co_await collect();
        if (context_.stop.requested()) break;
        if (chunks.empty()) {
            co_await context_.output_bell->wait(until_next());
            continue;
        }
        bool answered = false;
        if (session_.is_open()) answered = co_await ship(std::move(chunks));
        if (answered) {
            backoff_.reset();
        } else if (!context_.stop.requested()) {
            co_await pause_->wait(backoff_.next());
        }
    }
}

OutputFacts LogShipper::facts_of(const Attempt& attempt) const {
    const auto answered_since = session_.answered_since();
    if (!answered_since) return {};
    const auto now = context_.now();
    const auto since = std::max(attempt.ended_at, *answered_since);
    return {.server_answers = true,
            .waits_for = now - since,
            .quiet_for = now - std::max(since, attempt.output_taken_at)};
}

Task<void> LogShipper::give_up_late_output() {
    for (const auto key : table_.keys()) {
        const auto* attempt = table_.find(key);
        if (!attempt || !attempt->has_new_output || attempt->phase != Phase::ended) continue;
        const auto decision = decide_output(facts_of(*attempt));
        if (attempt->output_is_lost)
            co_await give_up(key, "O1/output_is_fenced");
        else if (!decision.keep_trying)
            co_await give_up(key, decision.rule);
    }
}

Task<void> LogShipper::give_up(AttemptKey key, std::string_view rule) {
    auto* attempt = table_.find(key);
    if (!attempt) co_return;
    attempt->output_is_lost = true;
    if (attempt->phase != Phase::ended) {
        attempt->has_new_output = false;  // how much is lost shows at its end
        co_return;
    }
    std::uint64_t missing = 0;
    while (attempt) {
        const auto bytes = co_await context_.ports.processes.output(
            key, attempt->output_sent + missing, counted_at_once);
        if (!bytes) missing = std::max<std::uint64_t>(missing, 1);  // there is more: unreadable
        if (!bytes || bytes->empty()) break;
        missing += bytes->size();
        attempt = table_.find(key);
    }
    attempt = table_.find(key);
    if (!attempt) co_return;
    attempt->output_undelivered = missing;
    attempt->has_new_output = false;
    context_.report_bell->ring();
    if (missing == 0) co_return;
    reached<"worker_gave_up_output">();
    context_.log.write(Level::warn, "output not delivered", "job", key.job.text(), "epoch",
                       key.epoch.value, "bytes", missing, "rule", rule);
}

std::vector<AttemptKey> LogShipper::next_in_turn() {
    std::vector<std::pair<std::uint64_t, AttemptKey>> waiting;
    const auto now = context_.now();
    for (const auto& [key, attempt] : table_.all())
        if (attempt.has_new_output && !attempt.output_is_lost && attempt.output_not_before <= now)
            waiting.emplace_back(attempt.output_turn, key);
    const auto taken = std::min(waiting.size(), chunks_max);
    std::partial_sort(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(taken),
                      waiting.end());
    std::vector<AttemptKey> turn;
    for (std::size_t i = 0; i < taken; ++i) turn.push_back(waiting[i].second);
    return turn;
}

Task<std::vector<LogChunk>> LogShipper::collect() {
    std::vector<LogChunk> chunks;
    // Those that turn out to have nothing make room for others.
    for (auto turn = next_in_turn(); chunks.empty() && !turn.empty(); turn = next_in_turn()) {
        for (const auto key : turn) {
            auto* attempt = table_.find(key);
            if (!attempt) continue;
            const auto offset = attempt->output_sent;
            const auto hints = attempt->output_hints;
            attempt->output_turn = ++turn_;
            auto bytes = co_await context_.ports.processes.output(key, offset, log_chunk_max);
            attempt = table_.find(key);
            if (!attempt) continue;
            if (!bytes) co_await give_up(key, "O1/output_is_unreadable");
            if (!bytes) continue;
            if (bytes->empty()) {
                // Unless it has printed more while we read.
                attempt->has_new_output = attempt->output_hints != hints;
                if (attempt->phase == Phase::ended) context_.report_bell->ring();
                continue;
            }
            chunks.push_back({.attempt = key, .offset = offset, .bytes = std::move(*bytes)});
        }
    }
    co_return chunks;
}

Task<bool> LogShipper::ship(std::vector<LogChunk> chunks) {
    LogRequest request{.session = session_.id(), .chunks = chunks};
    const auto sent_by = request.session;
    const auto server = session_.server();
    auto response = co_await context_.ports.servers.logs(server, std::move(request));
    if (!response || response->answers.size() != chunks.size()) {
        const auto why = response ? "not one answer for each chunk" : response.error().what;
        context_.log.write(Level::info, "output not taken, will repeat it", "why", why);
        co_return false;
    }
    for (std::size_t i = 0; i < chunks.size(); ++i)
        co_await apply_answer(std::move(chunks[i]), response->answers[i], sent_by);
    co_return true;
}

Task<void> LogShipper::apply_answer(LogChunk chunk, ItemAnswer answer, SessionId sent_by) {
    auto* attempt = table_.find(chunk.attempt);
    if (!attempt) co_return;
    if (answer == ItemAnswer::ok) {
        attempt->output_sent = chunk.offset + chunk.bytes.size();
        attempt->output_taken_at = context_.now();
    } else if (answer == ItemAnswer::fenced && session_.is(sent_by)) {
        // Nobody wants it any more; whether the attempt itself is fenced, its report will tell.
        co_await give_up(chunk.attempt, "O1/output_is_fenced");
    } else {
        // What an ended session is told says nothing about the one that took its attempts over.
        reached<"worker_sends_output_again">();
        attempt->output_not_before = context_.now() + again_after;
    }
}

// New output rings; this is for what must be sent again, or given up.
Duration LogShipper::until_next() const {
    auto wait = idle_wait;
    for (const auto& [key, attempt] : table_.all())
        if (attempt.has_new_output) wait = again_after;
    return wait;
}

}  // namespace perdure
