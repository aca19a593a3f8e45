// The worker protocol: sessions, credits, attempts and reports; never shims. One stream down,
// batched requests up. The JSON form is docs/protocol/worker.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/id.h"
#include "core/explain/evidence.h"
#include "core/job/callbacks.h"
#include "core/job/job.h"
#include "core/ownership/claim.h"
#include "core/ownership/isolation.h"
#include "core/ownership/reconcile.h"
#include "core/ownership/report.h"
#include "core/ownership/takeover.h"
#include "core/policy/cause.h"

namespace perdure {

// An attempt as it is given to a worker. The same in the claim's answer and when sent again.
struct Assignment {
    AttemptKey attempt;
    std::uint64_t number = 0;  // drawn from the session's counter, in the claim (O6)
    Terms terms;
    std::shared_ptr<const JobSpec> spec;
    std::string checkpoint;     // of an earlier attempt; empty if there is none
    std::vector<Input> inputs;  // how the jobs that it waited for have ended
};

struct OpenRequest {
    StateDirectory directory;
    std::uint64_t life = 0;
    std::string worker;
    std::uint32_t slots = 0;
    Offer offer;
    std::vector<Listed> on_disk;
    Duration away;  // since the last life died; zero: not known
};
struct OpenAnswer {
    SessionId session;
    Duration lease;
};

// How far a running attempt says it is. Only for people: nothing is decided by it.
struct ProgressNote {
    AttemptKey attempt;
    std::uint32_t percent = 0;
    std::string text;  // at most progress_text_max bytes
};
inline constexpr std::size_t progress_text_max = 256;
inline constexpr std::size_t checkpoint_max = std::size_t{1} << 20;
// A longer lease than a worker that detaches may want would only delay its recovery.
inline constexpr auto lease_most = hours(1);

struct HeartbeatRequest {
    SessionId session;
    std::uint64_t number = 0;
    std::uint64_t seen = 0;
    std::uint32_t slots = 0;  // in all, not free ones: those are derived; zero while it drains
    // It leaves, or hands its attempts to the next life, because a person said so. Empty: a
    // worker that does not know the field; then zero slots mean it.
    std::optional<bool> draining = {};
    Offer offer;
    Duration lease;  // wanted; a worker that detaches asks for a longer one
    std::vector<Listed> attempts;
    std::uint64_t tick_seen = 0;         // the highest that any answer carried (C6)
    std::vector<ProgressNote> progress;  // the newest of each attempt that has said something
};
struct KillOrder {
    AttemptKey attempt;
    Cause cause = Cause::cancelled;
};

// Hand this attempt back unless it has started (O3).
struct RecallOrder {
    AttemptKey attempt;
};

// Start nothing new, finish what runs within the drain time, and leave. A person's wish: it is
// said once, and a worker that is started again takes work again.
struct DrainOrder {};

using StreamMessage = std::variant<Assignment, KillOrder, DrainOrder, RecallOrder>;

struct HeartbeatAnswerMessage {
    HeartbeatAnswer answer = HeartbeatAnswer::ignore;
    std::vector<Assignment> resent;
    std::vector<AttemptKey> stop;
    std::vector<KillOrder> kill;
    std::vector<AttemptKey> recall;  // to be handed back, those that have not started
    std::uint64_t tick = 0;          // of service time: a store that is behind it has lost commits
};

// One statement about one attempt.
struct ReportItem {
    enum class Kind { ask, started, ended, begin, checkpoint };
    AttemptKey attempt;
    Kind kind = Kind::ended;
    AttemptEnd end;
    EvidenceRef evidence;  // of an end
    Duration age;          // of an end, when it is sent
    std::string checkpoint;
    std::uint64_t number = 0;  // of a begin or checkpoint, rising within the attempt (O10)
};
struct ReportRequest {
    SessionId session;
    std::vector<ReportItem> items;
};
// A piece of what an attempt has printed. Counts only while the attempt is in `run` [P2].
struct LogChunk {
    AttemptKey attempt;
    std::uint64_t offset = 0;  // of its first byte in the attempt's output
    std::string bytes;         // at most log_chunk_max
};
inline constexpr std::size_t log_chunk_max = 64 * 1024;
struct LogRequest {
    SessionId session;
    std::vector<LogChunk> chunks;
};

// go: start now. ok: the server has it, for good. fenced: stop, it is not yours any more; a late
// result has been filed and need not be repeated. again: not decided, repeat it. damaged: the job's
// row cannot be understood; keep what you have, and repeat it in a while.
enum class ItemAnswer { ok, go, fenced, again, damaged };
struct ReportResponse {
    std::vector<ItemAnswer> answers;  // one for each item
};
struct LogResponse {
    std::vector<ItemAnswer> answers;  // one for each chunk: ok, fenced or again
};

}  // namespace perdure
