// What jobs mean to each other, as JSON: `on_success`, `on_failure`, `on_end`, `after`, and the
// inputs that a job gets from those it waited for (docs/protocol/http.md, docs/protocol/worker.md).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/job/callbacks.h"
#include "wire/job_json.h"

namespace perdure {

inline constexpr std::array<std::string_view, 3> on_names = {"success", "failure", "end"};
static_assert(on_names[2] == to_string(Trigger::end));

// Fields that read_relations() reads, after all others: a callback takes over its job's queue.
bool is_relation(std::string_view field);
void read_relations(const JsonCursor& at, JobRequest& into);

// A callback of `parent`, with what it takes over from it: tenant, queue, and policy `forever`.
void read_callback(const JsonCursor& at, const JobSpec& parent, JobSpec& into);

// Fields only. Workers are told whose callback a job is, and nothing else.
void write_relations(JsonWriter& out, const JobSpec& spec, SpecFields fields);
void read_callback_of(const JsonCursor& at, JobSpec& into);

void write_input_fields(JsonWriter& out, const Input& input);
void write_input(JsonWriter& out, const Input& input);
void write_inputs(JsonWriter& out, const std::vector<Input>& inputs);
void read_inputs(const JsonCursor& at, std::vector<Input>& into);

}  // namespace perdure
