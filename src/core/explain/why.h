// Why does a job not go on? All that stands in its way, what would remove each, and when.
// Facts come from several reads and may be a moment old: an answer for people, nothing rests on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/job/job.h"
#include "core/ownership/timing.h"
#include "core/policy/cause.h"

namespace perdure {

// A worker that is connected, as far as it matters to one job.
struct WhyWorker {
    std::string name;
    bool serves_tenant = true;
    bool takes_queue = true;
    bool takes_kind = true;
    bool runs_for_submitter = true;  // it runs each job as whoever submitted it: also this one
    std::string_view cannot_limit;   // what the job asks for and it cannot keep; empty: nothing
    bool suspect = false;            // silent: gets nothing until its next heartbeat
    bool draining = false;           // takes nothing new
    bool deaf = false;               // heard, but confirms no start; rarely gets anything
    std::uint32_t free_slots = 0;

    bool is_named() const { return serves_tenant && takes_queue && takes_kind; }
    bool matches() const { return is_named() && runs_for_submitter; }
    bool refuses_submitter() const { return is_named() && !runs_for_submitter; }
};

// A key or limit that the job needs and cannot have now.
struct WhyPermit {
    std::string name;                  // "key `x`" or "limit `y`"
    std::vector<std::string> holders;  // ids of jobs that hold it, a few
};

struct WhyFacts {
    JobState state = JobState::ready;
    std::string tenant = "default";
    std::string queue;
    std::string kind;
    std::string submitter;  // "token deploy", "root"; empty: nobody knows
    // scheduled and waiting
    std::optional<Duration> due_in;
    std::optional<WallTime> due_at;
    // waiting: what for, and the state that each is in
    struct Awaited {
        std::string job;
        Trigger on = Trigger::success;
        std::string state;
    };
    std::vector<Awaited> awaited;
    // ready and blocked
    bool queue_paused = false;
    bool presumed_lost = false;  // its last attempt's lease ran out; it may still come back
    // O9: it may have killed its worker, and waits for one that runs nothing else.
    std::optional<Duration> suspect_for;
    bool held = false;             // blocked: by a person
    std::vector<WhyPermit> taken;  // all of them, whichever it is blocked on
    std::optional<Duration> queue_timeout_in;
    std::vector<WhyWorker> workers;
    // How its newest attempt has ended, if it waits after that one.
    struct LastEnd {
        std::uint32_t attempt = 0;
        Cause cause = Cause::exit;
        std::string detail;
    };
    std::optional<LastEnd> last;
    // starting and running
    std::string worker;  // empty: its session is not open any more
    bool asks = false;
    Duration silent_for;
    Duration lease_left;     // of its worker's session; below zero: over for so long
    Duration hold;           // how long it stays its worker's after that
    bool runs_again = true;  // false: what may have run is left to a person then
    std::optional<Cause> kill_ordered;
    std::optional<Duration> total_timeout_in;
    std::optional<Duration> run_timeout_in;
};

struct Blocker {
    std::string what;
    std::string removed_by;
    std::optional<Duration> in;  // goes by itself then, in service time
    std::optional<WallTime> at;  // or on that date
};

// Empty exactly if the job has ended.
std::vector<Blocker> explain(const WhyFacts& facts, const Timing& timing);

}  // namespace perdure
