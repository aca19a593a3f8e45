// Claiming: who is first in line, who may take it, and what stands in the way (rules O3, C4, E6).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "core/job/job.h"
#include "core/ownership/hearing.h"
#include "core/ownership/service_time.h"
#include "core/policy/cause.h"
#include "core/worker/job_host.h"

namespace perdure {

// The order of one line in `ready`: priority, then first in line, then time, then id. First in line
// means before all of its own priority, no higher (E6). Between the lines of queues and shares,
// turns come before time (E7): core/job/turns.h.
struct QueuePosition {
    std::uint8_t priority = 5;
    bool in_turn = true;  // false: first in line
    ServiceTime since;
    JobId job;

    friend constexpr auto operator<=>(const QueuePosition&, const QueuePosition&) = default;
};

// What a worker must match to take a job, and whose turn it is. Each shape has a line of its own in
// `ready`, so that a claim never skips over what it cannot take.
struct Shape {
    std::string tenant;
    std::string queue;
    std::string kind;
    std::string share;
    SubmitterKind submitter = SubmitterKind::no_account;

    friend auto operator<=>(const Shape&, const Shape&) = default;
};

// What a session is able to take. An empty list means all.
struct Offer {
    std::string tenant = "default";
    std::vector<std::string> queues;
    std::vector<std::string> kinds;  // a job with a command has the empty one
    TakesFrom takes_from = TakesFrom::anybody;
    std::vector<std::string> other_tenants = {};  // besides `tenant`; each of them once
    JobHost host = {};                            // nothing is claimed by it

    friend bool operator==(const Offer&, const Offer&) = default;
};

bool serves_tenant(const Offer& offer, const std::string& tenant);
bool takes_queue(const Offer& offer, const std::string& queue);
bool takes_kind(const Offer& offer, const std::string& kind);

Shape shape_of(const JobSpec& spec);
bool matches(const Offer& offer, const Shape& shape);
// It would match, were it somebody else's who submitted it (U3).
bool refuses_submitter(const Offer& offer, const Shape& shape);

// Whether a session may claim at all (O3, O6).
struct ClaimantFacts {
    bool session_is_open = false;
    bool stream_is_current = false;
    bool heard_in_this_life = true;  // of the server: before it, renewals may have been lost (T4)
    bool unconfirmed_start = false;  // one of its starts is past its confirmation deadline
    bool starting = false;           // one of its attempts is; asked only of a deaf session
    Hearing hearing;
    ServiceTime lease_deadline;
    ServiceTime heard_at;
    ServiceTick clock;
};
struct ClaimantDecision {
    bool allowed = false;
    std::string_view rule;
    std::uint32_t max = UINT32_MAX;  // of jobs in one claim
};
ClaimantDecision decide_claimant(const ClaimantFacts& facts, const Timing& timing);

// A permit that jobs of one name share: a key (one holder) or a limit (as many as its maximum).
struct Permit {
    enum class Kind { key, limit } kind = Kind::key;
    std::string tenant;
    std::string name;

    friend auto operator<=>(const Permit&, const Permit&) = default;
};

// All that this job must hold while it runs, in the order in which they are looked at.
std::vector<Permit> permits_of(const JobSpec& spec);

struct PermitFacts {
    Permit permit;
    std::uint32_t taken = 0;  // by other jobs
    std::uint32_t max = 1;
    bool held_by_this_job = false;  // kept by "retry now"
};
struct AdmissionFacts {
    bool queue_paused = false;
    bool avoids_this_worker = false;  // another one is preferred, and the wait for it is not over
    std::vector<PermitFacts> permits;
    // O9: it is a suspect, and has waited this long. Empty: it is none.
    std::optional<Duration> suspect_for = {};
    bool session_is_empty = true;  // it has no attempt in `run`
};
struct AdmissionDecision {
    enum class Kind { admit, skip, block } kind = Kind::admit;
    std::optional<Permit> blocked_on;
    std::string_view rule;
};
AdmissionDecision decide_admission(const AdmissionFacts& facts, const Timing& timing);

// O9: of the job's newest attempt, if that has ended.
bool is_suspect(const std::optional<AttemptEnd>& newest);

// How many of one shape's jobs that are blocked on a permit become `ready` in this transaction. At
// most a window full of them is offered a permit at once: each one that leaves `ready` lets the
// next ones follow, so that the rest needs nobody to remember it, and no transaction grows with the
// number of those who wait (C4, C8).
inline constexpr std::uint32_t promotion_window = 64;
struct PromotionFacts {
    std::uint32_t free = 0;     // of the permit
    std::uint32_t wanting = 0;  // jobs of this shape that are `ready` and have yet to take it
};
struct PromotionDecision {
    std::uint32_t promote = 0;
    std::string_view rule;
};
PromotionDecision decide_promotion(const PromotionFacts& facts);

}  // namespace perdure
