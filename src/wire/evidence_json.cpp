// Evidence as the worker protocol has it.
#include <array>
#include <memory>
#include <utility>

#include "wire/worker_parts.h"

namespace perdure {
namespace {

using At = const JsonCursor&;

// JSON as a text. It is shown as it is: what is none would spoil every answer that contains it.
void read_result(At at, std::string& into) {
    read_text(at, into, {0, result_max});
    if (into.empty() || !at.ok()) return;
    JsonTree tree;
    if (parse_quick(into, tree)) at.parse_error("must be JSON as a text, at most 32 levels deep");
}

using OfEvidence = JsonField<Evidence>;
constexpr std::array evidence_fields = {
    OfEvidence{"result", [](At at, Evidence& e) { read_result(at, e.result); }},
    OfEvidence{"detail",
               [](At at, Evidence& e) {
                   read_text(at, e.detail, {0, detail_max});
               }},
    OfEvidence{"last_lines",
               [](At at, Evidence& e) {
                   read_text(at, e.last_lines, {0, last_lines_max});
               }},
    OfEvidence{"host",
               [](At at, Evidence& e) {
                   read_text(at, e.host, {0, short_text_max});
               }},
    OfEvidence{"peak_memory", [](At at, Evidence& e) { read_counter(at, e.peak_memory); }},
    OfEvidence{"ran_for_us", [](At at, Evidence& e) { read_us(at, e.ran_for); }},
    OfEvidence{"cpu_user_us", [](At at, Evidence& e) { read_us(at, e.usage.cpu_user); }},
    OfEvidence{"cpu_system_us", [](At at, Evidence& e) { read_us(at, e.usage.cpu_system); }},
    OfEvidence{"read_bytes", [](At at, Evidence& e) { read_counter(at, e.usage.read_bytes); }},
    OfEvidence{"write_bytes", [](At at, Evidence& e) { read_counter(at, e.usage.write_bytes); }},
    OfEvidence{"output_undelivered",
               [](At at, Evidence& e) { read_counter(at, e.output_undelivered); }},
    OfEvidence{"output_cut", [](At at, Evidence& e) { read_counter(at, e.output_cut); }},
};

}  // namespace

void write_evidence(JsonWriter& out, const Evidence& evidence) {
    out.begin_object();
    if (!evidence.result.empty()) out.field("result", evidence.result);
    if (!evidence.detail.empty()) out.field("detail", evidence.detail);
    if (!evidence.last_lines.empty()) out.field("last_lines", evidence.last_lines);
    if (!evidence.host.empty()) out.field("host", evidence.host);
    if (evidence.peak_memory != 0) out.field("peak_memory", evidence.peak_memory);
    if (evidence.ran_for != Duration{}) out.field("ran_for_us", evidence.ran_for.us);
    const auto& usage = evidence.usage;
    if (usage.cpu_user != Duration{}) out.field("cpu_user_us", usage.cpu_user.us);
    if (usage.cpu_system != Duration{}) out.field("cpu_system_us", usage.cpu_system.us);
    if (usage.read_bytes != 0) out.field("read_bytes", usage.read_bytes);
    if (usage.write_bytes != 0) out.field("write_bytes", usage.write_bytes);
    if (evidence.output_undelivered != 0)
        out.field("output_undelivered", evidence.output_undelivered);
    if (evidence.output_cut != 0) out.field("output_cut", evidence.output_cut);
    out.end_object();
}

void read_evidence(At at, EvidenceRef& into) {
    auto evidence = std::make_shared<Evidence>();
    read_fields<Evidence>(at, evidence_fields, *evidence);
    into = std::move(evidence);
}

}  // namespace perdure
