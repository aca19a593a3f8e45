// BodyHash: the identity of what was asked (C5). Two submits under one idempotency key are the same
// job if these are equal, so it must not happen that different bodies have the same.
//   B1  Everything that was asked counts, the idempotency key apart, as it was asked: the delay
//       and not the date that it became; the name of a policy, not what the configuration says
//       about it today; the index of an earlier job of the batch, not the id that it got.
//   B2  What is the same for the same request counts once: the order of names, spaces and the
//       spelling of numbers are gone when a spec has been read.
//   B3  It is stored: the same in every release. A new field is left out while it is empty.
// XXH3 with 128 bits: the chance of a collision among a billion bodies is 10^-21. It does not
// withstand somebody who looks for one; that somebody chooses both bodies and both are its own
// tenant's, so all that could be gained is the wrong answer to one's own question.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>

#include "base/time.h"
#include "core/job/job.h"
#include "core/job/submit.h"

namespace perdure {

struct BodyHash {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    bool is_short = false;  // of a release that stored 64 bits: old_body_hash(), `high` is 0
    friend auto operator<=>(const BodyHash&, const BodyHash&) = default;
};

struct AskedBody {
    const JobSpec& spec;
    std::optional<Duration> delay = {};
    std::span<const AfterEarlier> after_earlier = {};
};

BodyHash body_hash(const AskedBody& asked);
inline BodyHash body_hash(const JobSpec& spec) { return body_hash(AskedBody{spec}); }
// As releases before schema 10 made it. Fields that have come since do not count.
std::uint64_t old_body_hash(const AskedBody& asked);

// Is `stored` what is asked now? `asked_old`: old_body_hash() of that; it is needed only if
// `stored` is short.
bool is_same_body(const BodyHash& stored, const BodyHash& asked,
                  std::optional<std::uint64_t> asked_old);

}  // namespace perdure
