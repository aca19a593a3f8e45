// Parts that several messages of the worker protocol share, as JSON.
#pragma once

#include <array>
#include <string_view>

#include "wire/json_reader.h"
#include "wire/json_writer.h"
#include "wire/worker_protocol.h"

namespace perdure {

// Fields only: the caller begins and ends the object.
void write_attempt_key(JsonWriter& out, const AttemptKey& attempt);
// True if `name` is one of the fields of an attempt's key.
bool read_attempt_key(std::string_view name, const JsonCursor& at, AttemptKey& into);

void write_offer(JsonWriter& out, const Offer& offer);
void read_offer(const JsonCursor& at, Offer& into);

void write_listed(JsonWriter& out, std::string_view name, const std::vector<Listed>& listed);
void read_listed(const JsonCursor& at, std::vector<Listed>& into);

void write_assignment(JsonWriter& out, const Assignment& assignment);
void read_assignment(const JsonCursor& at, Assignment& into);

void write_kill(JsonWriter& out, const KillOrder& order);
void read_kill(const JsonCursor& at, KillOrder& into);

void write_end(JsonWriter& out, const AttemptEnd& end);
void read_end(const JsonCursor& at, AttemptEnd& into);

void write_evidence(JsonWriter& out, const Evidence& evidence);
void read_evidence(const JsonCursor& at, EvidenceRef& into);

// Bytes as base 64; left out if there are none.
void write_bytes(JsonWriter& out, std::string_view name, std::string_view bytes);
void read_bytes(const JsonCursor& at, std::string& into);

inline constexpr std::array<std::string_view, 5> item_answer_names = {"ok", "go", "fenced", "again",
                                                                      "damaged"};

}  // namespace perdure
