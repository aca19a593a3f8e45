// Job: what was asked, and the states and places it can be in.
//   J1  A job is in exactly one place, and that place has a deadline or a live owner [P3].
//   J2  `epoch` rises by one at every claim and is never reused, also not by a release [P2].
//   J3  An ended state is never left, except `quarantined` by a person: a new generation.
// The table `places` is the only statement of "where a job is"; code, models and docs use it.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/level.h"
#include "base/time.h"
#include "core/job/who.h"
#include "core/policy/policy.h"

namespace perdure {

struct Epoch {
    std::uint32_t value = 0;
    friend constexpr auto operator<=>(Epoch, Epoch) = default;
    constexpr Epoch next() const { return {value + 1}; }
};

// One execution of a job. Everything a worker says is about one of these.
struct AttemptKey {
    JobId job;
    Epoch epoch;
    friend constexpr auto operator<=>(const AttemptKey&, const AttemptKey&) = default;
};

enum class JobState {
    scheduled,
    ready,
    blocked,
    starting,
    running,
    waiting,
    succeeded,
    failed,
    cancelled,
    expired,
    quarantined,
};

enum class Place { timer, ready, blocked, run, wait, outcome };

struct PlaceOfState {
    JobState state;
    std::string_view name;
    Place place;
    std::string_view kept_by;  // its owner or deadline
    std::string_view left_by;
};

inline constexpr std::array places = {
    PlaceOfState{JobState::scheduled, "scheduled", Place::timer, "its time", "due, cancel, hold"},
    PlaceOfState{JobState::ready, "ready", Place::ready, "queue timeout",
                 "claim, expiry, cancel, hold"},
    PlaceOfState{JobState::blocked, "blocked", Place::blocked,
                 "queue timeout (held by a person: 30 d)",
                 "promotion by what frees it, expiry, cancel"},
    PlaceOfState{JobState::starting, "starting", Place::run, "session's lease; start confirmation",
                 "start, refusal, silence, cancel"},
    PlaceOfState{JobState::running, "running", Place::run,
                 "session's lease; run, idle and total timeout",
                 "report, lease end, timeout, cancel"},
    PlaceOfState{JobState::waiting, "waiting", Place::wait, "queue timeout",
                 "the end of what it waits for, expiry, cancel, hold"},
    PlaceOfState{JobState::succeeded, "succeeded", Place::outcome, "retention", "never"},
    PlaceOfState{JobState::failed, "failed", Place::outcome, "retention", "never"},
    PlaceOfState{JobState::cancelled, "cancelled", Place::outcome, "retention", "never"},
    PlaceOfState{JobState::expired, "expired", Place::outcome, "retention", "never"},
    PlaceOfState{JobState::quarantined, "quarantined", Place::outcome, "retention",
                 "a person's release or accept: a new generation"},
};

constexpr const PlaceOfState& place_of(JobState state) {
    return places[static_cast<std::size_t>(state)];
}
constexpr std::string_view to_string(JobState state) { return place_of(state).name; }
constexpr bool has_ended(JobState state) { return place_of(state).place == Place::outcome; }
constexpr bool is_waiting_for_a_claim(JobState state) {
    return state == JobState::scheduled || state == JobState::ready || state == JobState::blocked;
}

constexpr bool can_be_held(JobState state) {
    return is_waiting_for_a_claim(state) || state == JobState::waiting;
}

// What a second run would do to the world, as declared by the job's author.
enum class Effects { repeatable, resumable, once };

// Run and idle count on the shim's clock, the others in service time (E5).
struct Timeouts {
    Duration queue = days(7);
    Duration run = hours(24);
    std::optional<Duration> idle;
    std::optional<Duration> total;
};

// Which ends of a job release what waits for it. The table is fires_on() in core/job/callbacks.h.
enum class Trigger { success, failure, end };

// A job to be made when this one ends: once for each generation, in the ending transaction [P7].
struct JobSpec;
struct Callback {
    Trigger on = Trigger::end;
    std::shared_ptr<const JobSpec> spec;  // never null
};

// A job that must have ended before this one may run. Any other end than `on` cancels this one.
struct After {
    JobId job;
    Trigger on = Trigger::success;
    friend bool operator==(const After&, const After&) = default;
};

// Whose callback a job is. The same end never makes it twice.
struct CallbackOf {
    JobId job;
    std::uint32_t generation = 1;
    std::uint32_t number = 0;  // among the callbacks of that job
    friend bool operator==(const CallbackOf&, const CallbackOf&) = default;
};

// The most that one attempt may use. Empty: as much as its host has.
struct Resources {
    std::optional<std::uint64_t> memory;       // bytes, of the whole tree
    std::optional<std::uint32_t> cpu_percent;  // 100: one core
    std::optional<std::uint32_t> processes;
    friend bool operator==(const Resources&, const Resources&) = default;
};

// What was asked; written once and never changed.
struct JobSpec {
    std::string tenant = "default";
    std::string queue = "default";
    std::string kind;
    std::string share;  // whose job it is, for turns within its queue (E7); empty: nobody's
    std::vector<std::string> argv;
    std::string args;                                      // JSON text
    std::vector<std::pair<std::string, std::string>> env;  // besides what every job gets
    std::string cwd;                                       // empty: a fresh folder of its own
    std::uint64_t output_max = std::uint64_t{16} << 20;    // what is kept of what it prints
    std::uint8_t priority = 5;
    Effects effects = Effects::repeatable;
    std::optional<std::string> key;
    std::vector<std::string> limits;
    std::optional<WallTime> run_at;
    PolicyChoice policy;
    Timeouts timeouts;
    std::optional<Duration> hold;
    std::optional<std::string> idempotency_key;
    std::optional<Duration> keep_key;  // how long that key outlives the job; empty: as usual (C5)
    std::optional<JobId> retry_of;     // the ended job that this one repeats
    std::vector<Callback> callbacks;
    std::vector<After> after;
    std::optional<CallbackOf> callback_of;
    Resources resources;
    std::optional<Level> failure_level;  // of the log when it fails; empty: the server's
    // Not asked for: who the connection was (W1), and the attempt inside which it was submitted.
    Who submitted_by;
    std::optional<AttemptKey> parent;

    bool needs_holders() const { return key.has_value() || !limits.empty(); }
};

constexpr std::string_view to_string(Trigger on) {
    switch (on) {
        case Trigger::success: return "success";
        case Trigger::failure: return "failure";
        case Trigger::end: return "end";
    }
    return "end";
}

constexpr std::string_view to_string(Effects effects) {
    switch (effects) {
        case Effects::repeatable: return "repeatable";
        case Effects::resumable: return "resumable";
        case Effects::once: return "once";
    }
    return "once";
}

}  // namespace perdure
