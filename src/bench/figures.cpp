#include "bench/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bench/text_table.h"
#include "wire/json_writer.h"

namespace perdure::bench {
namespace {

constexpr double lives_ratio = 0.5;
constexpr double drain_ratio = 0.6;
constexpr double submit_ratio = 0.4;
constexpr double submits_per_s = 40'000;
constexpr double command_ratio = 0.5;
constexpr double latency_p50_ms = 1;
constexpr double latency_p99_ms = 5;
constexpr double latency_syncs = 10;
constexpr double idle_mib = 25;
constexpr double claim_ratio = 2;
constexpr double first_claim_s = 3;

struct Row {
    std::string measure, target, reached, ratio;
    bool met = false;
};

std::string rate(double per_s) {
    return per_s > 0 ? fmt::format("{:.0f}/s", per_s) : "not measured";
}
std::string ms(const Spread& spread) {
    if (spread.p99 <= 0) return "not measured";
    return fmt::format("p50 {:.2f} ms, p99 {:.2f} ms", spread.p50, spread.p99);
}
double part(double reached, double of) { return of > 0 ? reached / of : 0; }
std::string share(double ratio) { return fmt::format("{:.0f} %", ratio * 100); }

// The middle round's ratio, and those of the least and the most lucky one.
std::string shares(const Rounds& rounds) {
    return fmt::format("{} ({:.0f} to {:.0f})", share(rounds.middle.ratio()), rounds.least * 100,
                       rounds.most * 100);
}

Row of_ceiling(std::string measure, const Rounds& rounds, double wanted, const std::string& what) {
    const auto& round = rounds.middle;
    return {std::move(measure),
            fmt::format("≥ {} of {} {}", share(wanted), what, rate(round.ceiling)),
            rate(round.reached), shares(rounds), round.ratio() >= wanted};
}

Row submits(const Rounds& rounds) {
    const auto& round = rounds.middle;
    return {"durable single submits, 64 connections",
            fmt::format("≥ {}, or ≥ {} of bare Beast {}", rate(submits_per_s), share(submit_ratio),
                        rate(round.ceiling)),
            rate(round.reached), shares(rounds),
            round.ratio() >= submit_ratio || round.reached >= submits_per_s};
}

Row latency(const Figures& f) {
    const auto p99_max = std::max(latency_p99_ms, latency_syncs * f.disk.fdatasync_ms.p99);
    return {
        "submit → ran (≥ submit → start), 100/s",
        fmt::format("p50 ≤ {} ms, p99 ≤ {:.1f} ms", latency_p50_ms, p99_max), ms(f.latency_ms),
        fmt::format("{:.1f} syncs", part(f.latency_ms.p50, f.disk.fdatasync_ms.p50)),
        f.latency_ms.p99 > 0 && f.latency_ms.p50 <= latency_p50_ms && f.latency_ms.p99 <= p99_max};
}

Row memory(std::string who, double mib) {
    return {std::move(who), fmt::format("≤ {} MiB", idle_mib), fmt::format("{:.1f} MiB", mib), "",
            mib > 0 && mib <= idle_mib};
}

Row claims(std::string what, const Spread& claim, const Spread& empty) {
    const auto ratio = part(claim.p99, empty.p99);
    return {std::move(what),
            fmt::format("p99 ≤ {}× the empty queue's {:.2f} ms", claim_ratio, empty.p99), ms(claim),
            fmt::format("{:.1f}×", ratio), ratio > 0 && ratio <= claim_ratio};
}

std::vector<Row> rows_of(const Figures& f) {
    std::vector<Row> rows = {
        of_ceiling("whole lives, batches of 1,000", f.lives, lives_ratio, "raw SQLite"),
        of_ceiling(fmt::format("drain of {} jobs", f.drained), f.drain, drain_ratio, "raw SQLite"),
        submits(f.submits),
        latency(f),
        of_ceiling("`true`, supervised: " + f.containment, f.commands, command_ratio, "bare shims"),
        memory("idle server", f.idle.server),
        memory("idle worker", f.idle.worker)};
    if (f.waited == 0) return rows;
    const auto w = f.waiting.value_or(Waiting{});
    rows.push_back(
        claims(fmt::format("claim, {} waiting", f.waited), w.claim_ms, w.claim_empty_ms));
    rows.push_back(claims(fmt::format("claim, {} behind a key", f.waited),
                          f.behind_key.value_or(Spread{}), w.claim_empty_ms));
    if (!f.waiting) return rows;
    rows.push_back({fmt::format("start to first claim, {} waiting", f.waited),
                    fmt::format("≤ {} s", first_claim_s), fmt::format("{:.2f} s", w.first_claim_s),
                    "", w.first_claim_s <= first_claim_s});
    return rows;
}

void write_spread(JsonWriter& out, std::string_view name, const Spread& spread) {
    out.key(name);
    out.begin_object();
    out.key("p50");
    out.raw(fmt::format("{:.4f}", spread.p50));
    out.key("p99");
    out.raw(fmt::format("{:.4f}", spread.p99));
    out.end_object();
}

void write_number(JsonWriter& out, std::string_view name, double number) {
    out.key(name);
    out.raw(fmt::format("{:.4f}", number));
}

void write_memory(JsonWriter& out, std::string_view name, const Memory& memory) {
    out.key(name);
    out.begin_object();
    write_number(out, "server", memory.server);
    write_number(out, "worker", memory.worker);
    out.end_object();
}

void write_backlog(JsonWriter& out, const Figures& f) {
    out.key("backlog");
    out.begin_object();
    out.field("waiting", f.waited);
    write_spread(out, "claim_empty_ms", f.waiting->claim_empty_ms);
    write_spread(out, "claim_waiting_ms", f.waiting->claim_ms);
    write_number(out, "first_claim_s", f.waiting->first_claim_s);
    if (f.behind_key) write_spread(out, "claim_behind_key_ms", *f.behind_key);
    out.end_object();
}

void write_rounds(JsonWriter& out, std::string_view name, const Rounds& rounds) {
    out.key(name);
    out.begin_object();
    write_number(out, "least", rounds.least);
    write_number(out, "most", rounds.most);
    out.end_object();
}

// What belongs to no row.
std::string heading_of(const Figures& f) {
    const auto& lives = f.lives.middle;
    const auto& drain = f.drain.middle;
    return fmt::format(
        "fdatasync {}, {}; bare shims {} one by one\n"
        "batch submits {}; after the load: server {:.0f} MiB, worker {:.0f} MiB\n"
        "blind writes, told which rows to claim: {} lives (reached: {}), drain {} (reached: {})\n"
        "ratios: the median of {} rounds of ceiling and measure (the least to the most)\n"
        "\n",
        ms(f.disk.fdatasync_ms), rate(f.disk.per_s), rate(f.commands.middle.other_ceiling),
        rate(f.submit_batch_per_s), f.after_load.server, f.after_load.worker,
        rate(lives.other_ceiling), share(lives.other_ratio()), rate(drain.other_ceiling),
        share(drain.other_ratio()), f.rounds);
}

}  // namespace

std::string as_table(const Figures& figures) {
    std::vector<std::vector<std::string>> lines = {
        {"measure", "target", "reached", "ratio", "verdict"}};
    for (const auto& row : rows_of(figures))
        lines.push_back(
            {row.measure, row.target, row.reached, row.ratio, row.met ? "met" : "missed"});
    return heading_of(figures) + columns(lines);
}

std::string as_json(const Figures& f) {
    std::string text;
    JsonWriter out(text);
    out.begin_object();
    out.field("store", "sqlite");
    out.field("rounds", f.rounds);
    const auto& lives = f.lives.middle;
    write_number(out, "ceiling_jobs_per_s", lives.ceiling);
    write_number(out, "blind_ceiling_jobs_per_s", lives.other_ceiling);
    write_number(out, "jobs_per_s", lives.reached);
    write_number(out, "ratio", lives.ratio());
    write_rounds(out, "ratio_rounds", f.lives);
    write_number(out, "blind_ratio", lives.other_ratio());
    const auto& drain = f.drain.middle;
    write_number(out, "drain_ceiling_per_s", drain.ceiling);
    write_number(out, "blind_drain_ceiling_per_s", drain.other_ceiling);
    write_number(out, "drain_per_s", drain.reached);
    write_number(out, "drain_ratio", drain.ratio());
    write_rounds(out, "drain_ratio_rounds", f.drain);
    write_number(out, "blind_drain_ratio", drain.other_ratio());
    out.field("drained", f.drained);
    write_number(out, "http_ceiling_per_s", f.submits.middle.ceiling);
    write_number(out, "submit_single_per_s", f.submits.middle.reached);
    write_number(out, "submit_ratio", f.submits.middle.ratio());
    write_rounds(out, "submit_ratio_rounds", f.submits);
    write_number(out, "submit_batch_per_s", f.submit_batch_per_s);
    write_spread(out, "latency_ms", f.latency_ms);
    write_spread(out, "fdatasync_ms", f.disk.fdatasync_ms);
    write_number(out, "fdatasync_per_s", f.disk.per_s);
    write_number(out, "command_ceiling_per_s", f.commands.middle.ceiling);
    write_number(out, "command_ceiling_one_by_one_per_s", f.commands.middle.other_ceiling);
    write_number(out, "command_jobs_per_s", f.commands.middle.reached);
    write_number(out, "command_ratio", f.commands.middle.ratio());
    write_rounds(out, "command_ratio_rounds", f.commands);
    out.field("containment", f.containment);
    write_memory(out, "idle_rss_mib", f.idle);
    write_memory(out, "rss_after_load_mib", f.after_load);
    if (f.waiting) write_backlog(out, f);
    out.key("failures");
    out.begin_array();
    for (const auto& failure : f.failures) out.value(failure);
    out.end_array();
    out.end_object();
    return text + "\n";
}

}  // namespace perdure::bench
