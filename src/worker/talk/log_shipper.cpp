#include "worker/talk/log_shipper.h"

#include <algorithm>
#include <utility>

#include "base/probe.h"
#include "core/worker_rules.h"

namespace perdure {
namespace {

constexpr std::size_t chunks_max = 16;

}  // namespace

LogShipper::LogShipper(WorkerContext& context, AttemptTable& table, Session& session)
    : context_(context),
      table_(table),
      session_(session),
      backoff_(context.ports.random, context.options.timing.reconnect_max),
      pause_(context.make_alarm()) {}

Task<void> LogShipper::run() {
    while (!context_.stop.requested()) {
        give_up_late_output();
        auto chunks = co_await collect();
        if (context_.stop.requested()) break;
        if (chunks.empty()) {
            co_await context_.output_bell->wait(idle_wait);
            continue;
        }
        bool settled = false;
        if (session_.is_open()) settled = co_await ship(std::move(chunks));
        if (settled) {
            backoff_.reset();
        } else if (!context_.stop.requested()) {
            co_await pause_->wait(backoff_.next());
        }
    }
}

void LogShipper::give_up_late_output() {
    for (const auto key : table_.keys()) {
        auto* attempt = table_.find(key);
        if (!attempt->has_new_output || attempt->phase != Attempt::Phase::ended) continue;
        const auto decision = decide_output({.ended_for = context_.now() - attempt->ended_at});
        if (decision.keep_trying) continue;
        reached<"worker_gave_up_output">();
        context_.log.write(Level::warn, "output not delivered", "job", key.job.text(), "epoch",
                           key.epoch.value, "rule", decision.rule);
        attempt->has_new_output = false;
        context_.report_bell->ring();
    }
}

Task<std::vector<LogChunk>> LogShipper::collect() {
    std::vector<LogChunk> chunks;
    for (const auto key : table_.keys()) {
        auto* attempt = table_.find(key);
        if (!attempt || !attempt->has_new_output) continue;
        if (chunks.size() == chunks_max) break;
        const auto offset = attempt->output_sent;
        const auto hints = attempt->output_hints;
        auto bytes = co_await context_.ports.processes.output(key, offset, log_chunk_max);
        attempt = table_.find(key);
        if (!attempt) continue;
        if (!bytes || bytes->empty()) {
            // Unless it has printed more while we read.
            attempt->has_new_output = bytes && attempt->output_hints != hints;
            if (attempt->phase == Attempt::Phase::ended) context_.report_bell->ring();
            continue;
        }
        chunks.push_back({.attempt = key, .offset = offset, .bytes = std::move(*bytes)});
    }
    co_return chunks;
}

Task<bool> LogShipper::ship(std::vector<LogChunk> chunks) {
    LogRequest request{.session = session_.id(), .chunks = chunks};
    const auto server = session_.server();
    auto response = co_await context_.ports.servers.logs(server, std::move(request));
    if (!response || response->answers.size() != chunks.size()) {
        const auto why = response ? "not one answer for each chunk" : response.error().what;
        context_.log.write(Level::info, "output not taken, will repeat it", "why", why);
        co_return false;
    }
    bool all = true;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        settle(chunks[i], response->answers[i]);
        if (response->answers[i] == ItemAnswer::again) all = false;
    }
    co_return all;
}

void LogShipper::settle(const LogChunk& chunk, ItemAnswer answer) {
    auto* attempt = table_.find(chunk.attempt);
    if (!attempt) return;
    if (answer == ItemAnswer::ok) {
        attempt->output_sent = chunk.offset + chunk.bytes.size();
    } else if (answer == ItemAnswer::fenced) {
        // Nobody wants it any more; whether the attempt itself is fenced, its report will tell.
        attempt->has_new_output = false;
        context_.report_bell->ring();
    }
}

}  // namespace perdure
