#include "store/engine/rows/codec.h"

#include <mutex>
#include <set>
#include <utility>

#include "store/engine/rows/bytes.h"
#include "store/engine/rows/ends.h"

namespace perdure::store {
namespace {

constexpr std::uint64_t input_form = 1;
constexpr std::uint64_t form = 1;
constexpr std::size_t rule_max = 100;

ByteReader open(std::string_view bytes, const char* what) {
    ByteReader in(bytes);
    if (in.number() != form) fail_corrupt(std::string(what) + " is in a form that is not known");
    return in;
}

}  // namespace

std::string_view interned(std::string_view rule) {
    static std::mutex guard;
    static std::set<std::string, std::less<>> known;
    if (rule.empty()) return {};
    if (rule.size() > rule_max) fail_corrupt("a stored rule is too long");
    const std::lock_guard lock(guard);
    const auto found = known.find(rule);
    return found != known.end() ? *found : *known.emplace(rule).first;
}

namespace {

// What only form 3 has: what earlier releases did not know.
void put_newer(ByteWriter& out, const Offer& offer) {
    out.number(offer.other_tenants.size());
    for (const auto& name : offer.other_tenants) out.text(name);
    const auto& host = offer.host;
    out.number(host.limits ? 1 : 0);
    if (host.limits)
        out.number((host.limits->memory ? 1U : 0U) | (host.limits->cpu ? 2U : 0U) |
                   (host.limits->processes ? 4U : 0U));
    out.number(host.uid ? 1 : 0);
    if (host.uid) out.number(*host.uid);
    out.text(host.files);
}

void take_newer(ByteReader& in, Offer& offer) {
    offer.other_tenants.resize(in.count());
    for (auto& name : offer.other_tenants) name = in.text();
    auto& host = offer.host;
    if (in.number() != 0) {
        const auto bits = in.number();
        host.limits = Enforceable{
            .memory = (bits & 1U) != 0, .cpu = (bits & 2U) != 0, .processes = (bits & 4U) != 0};
    }
    if (in.number() != 0) host.uid = static_cast<std::uint32_t>(in.number());
    host.files = in.text();
}

bool has_newer(const Offer& offer) {
    return !offer.other_tenants.empty() || offer.host != JobHost{};
}

}  // namespace

// Form 1 is the offer alone, and what is written while there is nothing else to say. In it, a
// session without slots drains: nothing else was known when it was the only one. Form 2 ends
// before whose jobs are taken if that is anybody's. Form 3 has that, and what is newer behind it.
std::string encode_said(const SessionRow& session) {
    const auto& offer = session.offer;
    const auto& hearing = session.hearing;
    const bool newer = has_newer(offer);
    const bool takes_all = offer.takes_from == TakesFrom::anybody;
    const bool is_usual =
        !newer && takes_all && hearing == Hearing{} && session.draining == (session.slots == 0);
    ByteWriter out;
    out.number(is_usual ? form : newer ? form + 2 : form + 1);
    out.text(offer.tenant);
    for (const auto* names : {&offer.queues, &offer.kinds}) {
        out.number(names->size());
        for (const auto& name : *names) out.text(name);
    }
    if (is_usual) return out.take();
    out.number(hearing.unconfirmed.size());
    for (const auto job : hearing.unconfirmed) out.number(job.value);
    out.integer(hearing.wait.us);
    out.at(hearing.claims_from);
    out.number(session.draining ? 1 : 0);
    if (newer || !takes_all) out.choice(offer.takes_from);
    if (newer) put_newer(out, offer);
    return out.take();
}

void decode_said(std::string_view bytes, SessionRow& session) {
    ByteReader in(bytes);
    const auto found = in.number();
    if (found < form || found > form + 2)
        fail_corrupt("a session's offer is in a form that is not known");
    auto& offer = session.offer;
    offer = {};
    offer.tenant = in.text();
    for (auto* names : {&offer.queues, &offer.kinds}) {
        names->resize(in.count());
        for (auto& name : *names) name = in.text();
    }
    auto& hearing = session.hearing;
    hearing = {};
    session.draining = session.slots == 0;
    if (found == form) return in.end();
    hearing.unconfirmed.resize(in.count());
    for (auto& job : hearing.unconfirmed) job = {in.number()};
    hearing.wait = {in.integer()};
    hearing.claims_from = in.at<ServiceTime>();
    session.draining = in.number() != 0;
    if (!in.is_at_end()) offer.takes_from = in.choice(last_takes_from);
    if (found == form + 2) take_newer(in, offer);
    in.end();
}

std::string encode(const Evidence& evidence) {
    ByteWriter out;
    out.number(form);
    out.text(evidence.result);
    out.text(evidence.detail);
    out.text(evidence.last_lines);
    out.text(evidence.host);
    out.number(evidence.peak_memory);
    out.integer(evidence.ran_for.us);
    // Rows of earlier versions end here, or after one more number, or after those of the usage.
    const auto& usage = evidence.usage;
    const bool is_cut = evidence.output_cut != 0;
    const bool is_used = is_cut || usage != Usage{};
    if (evidence.output_undelivered != 0 || is_used) out.number(evidence.output_undelivered);
    if (!is_used) return out.take();
    out.integer(usage.cpu_user.us);
    out.integer(usage.cpu_system.us);
    out.number(usage.read_bytes);
    out.number(usage.write_bytes);
    if (is_cut) out.number(evidence.output_cut);
    return out.take();
}

Evidence decode_evidence(std::string_view bytes) {
    auto in = open(bytes, "an attempt's evidence");
    Evidence evidence;
    evidence.result = in.text();
    evidence.detail = in.text();
    evidence.last_lines = in.text();
    evidence.host = in.text();
    evidence.peak_memory = in.number();
    evidence.ran_for = {in.span()};
    if (!in.is_at_end()) evidence.output_undelivered = in.number();
    if (!in.is_at_end()) {
        auto& usage = evidence.usage;
        usage.cpu_user = {in.span()};
        usage.cpu_system = {in.span()};
        usage.read_bytes = in.number();
        usage.write_bytes = in.number();
    }
    if (!in.is_at_end()) evidence.output_cut = in.number();
    in.end();
    return evidence;
}

std::string encode(const Recovery& entry) {
    ByteWriter out;
    out.number(form);
    out.choice(entry.repair);
    out.choice(entry.effects);
    out.text(entry.seen_by);
    out.text(entry.rule);
    out.integer(entry.time_to_detect.us);
    out.integer(entry.wait.us);
    out.text(entry.worker);
    out.number(entry.end.has_value());
    if (entry.end) put_end(out, *entry.end);
    return out.take();
}

Recovery decode_recovery(std::string_view bytes) {
    auto in = open(bytes, "an entry of the ledger");
    Recovery entry;
    entry.repair = in.choice(Repair::expired);
    entry.effects = in.choice(Effects::once);
    entry.seen_by = interned(in.text());
    entry.rule = interned(in.text());
    entry.time_to_detect = {in.span()};
    entry.wait = {in.span()};
    entry.worker = in.text();
    if (in.number() != 0) entry.end = get_end(in);
    in.end();
    return entry;
}

std::string encode(const Input& input) {
    ByteWriter out;
    out.number(input_form);
    out.number(input.job.value);
    out.number(input.generation);
    out.choice(input.state);
    out.choice(input.cause);
    out.number(input.exit_code.has_value());
    if (input.exit_code) out.integer(*input.exit_code);
    out.text(input.result);
    out.number(input.result_left_out);
    return out.take();
}

Input decode_input(std::string_view bytes) {
    ByteReader in(bytes);
    if (in.number() != input_form) fail_corrupt("an input is in a form that is not known");
    Input input;
    input.job = JobId{in.id()};
    input.generation = in.small();
    input.state = in.choice(JobState::quarantined);
    input.cause = in.choice(last_cause);
    if (in.number() != 0) input.exit_code = static_cast<std::int32_t>(in.integer());
    input.result = in.text();
    input.result_left_out = in.number() != 0;
    in.end();
    return input;
}

}  // namespace perdure::store
