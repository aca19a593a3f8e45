// The job object: what can be asked, as JSON (docs/protocol/http.md).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/job/job.h"
#include "core/job/submit.h"
#include "core/policy/policy_book.h"
#include "wire/json_reader.h"
#include "wire/json_writer.h"

namespace perdure {

inline constexpr std::array<std::string_view, 3> effects_names = {"repeatable", "resumable",
                                                                  "once"};
static_assert(effects_names[2] == to_string(Effects::once));

// A job as it is asked for. The delay counts from the moment at which the server takes it, so it
// is not yet a date; it belongs to what is compared under an idempotency key (C5).
struct JobRequest {
    JobSpec spec;
    std::optional<Duration> delay;
    std::vector<AfterEarlier> after_earlier;
    PolicyOrigin policy = PolicyOrigin::inherited;
};

// Reads shape and types; whether the job is acceptable is check_spec()'s to say. Fields that are
// left out keep what `into` has.
void read_job(const JsonCursor& at, JobRequest& into);
// The same without `delay`, callbacks and `after`, as servers send it to workers; may have
// `retry_of` and `callback_of`.
void read_spec(const JsonCursor& at, JobSpec& into);

// all: every field that has a value, defaults included. changed: only what differs from a default.
enum class SpecFields { all, changed };
// masked: for people, without what looks like a secret (S1). plain: for a worker.
enum class EnvValues { masked, plain };
// Fields only: the caller begins and ends the object. The environment of callbacks is masked.
void write_spec(JsonWriter& out, const JobSpec& spec, SpecFields fields, EnvValues values);

// `submitted_by` and `parent`, if they are known: a part of write_spec().
void write_submitter(JsonWriter& out, const JobSpec& spec, EnvValues values);

// JSON text without spaces and with sorted names: equal values have equal texts.
std::string canonical(const JsonNode& value);

}  // namespace perdure
