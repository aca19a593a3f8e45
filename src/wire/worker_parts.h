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
void read_job(const JsonCursor& at, AttemptKey& into);
void read_epoch(const JsonCursor& at, AttemptKey& into);
// An object with nothing but an attempt's key.
void read_attempt_key(const JsonCursor& at, AttemptKey& into);

// A number that a store can keep: below 2^63.
void read_counter(const JsonCursor& at, std::uint64_t& into);
// What is longer or empty is refused.
struct TextSize {
    std::size_t least = 0;
    std::size_t most = 0;
};
void read_text(const JsonCursor& at, std::string& into, TextSize size);

void write_job_host(JsonWriter& out, const JobHost& host);
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

void write_item(JsonWriter& out, const ReportItem& item);
void read_item(const JsonCursor& at, ReportItem& into);

// Bytes as base 64; left out if there are none.
void write_bytes(JsonWriter& out, std::string_view name, std::string_view bytes);
void read_bytes(const JsonCursor& at, std::string& into);

// A name as in a job (core/job/submit.h).
void read_name(const JsonCursor& at, std::string& into);

// What a session may offer and list: more is a mistake of the worker.
inline constexpr std::uint32_t slots_max = 100'000;
inline constexpr std::size_t listed_max = 100'000;
inline constexpr std::size_t offered_names_max = 1'000;
inline constexpr std::size_t short_text_max = 255;

inline constexpr std::array<std::string_view, 5> item_answer_names = {"ok", "go", "fenced", "again",
                                                                      "damaged"};

}  // namespace perdure
