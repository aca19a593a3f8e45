// Codec: the blobs of the schema (docs/formats/schema.md) and what they mean. Every blob begins
// with the version of its form. To change one: raise its version here, read both, write the new
// one, and describe it on that page.
#pragma once

#include <string>
#include <string_view>

#include "core/explain/evidence.h"
#include "core/explain/ledger.h"
#include "store/engine/rows/rows.h"

namespace perdure::store {

std::string encode(const JobSpec& spec);
JobSpec decode_spec(std::string_view bytes);

// Of a worker, as its session has it.
std::string encode(const PolicyChoice& policy);
PolicyChoice decode_policy(std::string_view bytes);

// What a session has said of itself, its offer, and what is known of its hearing (O3).
std::string encode_said(const SessionRow& session);
void decode_said(std::string_view bytes, SessionRow& session);

std::string encode(const Evidence& evidence);
Evidence decode_evidence(std::string_view bytes);

// What `recovery` has no columns for.
std::string encode(const Recovery& entry);
Recovery decode_recovery(std::string_view bytes);

// How an awaited job has ended.
std::string encode(const Input& input);
Input decode_input(std::string_view bytes);

std::string encode(const AttemptRow& attempt);
AttemptRow decode_attempt(std::string_view bytes);

// `life`: what changes about a job besides its place; its newest attempt included.
std::string encode_life(const JobRow& job);
void decode_life(std::string_view bytes, JobRow& job);

// Rules are views of static text: what is read is kept for the life of the process.
std::string_view interned(std::string_view rule);

}  // namespace perdure::store
