#include "store/sqlite/rows/codec.h"

#include <mutex>
#include <set>
#include <utility>

#include "store/sqlite/rows/bytes.h"

namespace perdure::sqlite {
namespace {

constexpr std::uint64_t form = 1;
constexpr std::size_t rule_max = 100;

ByteReader open(std::string_view bytes, const char* what) {
    ByteReader in(bytes);
    if (in.number() != form) fail_corrupt(std::string(what) + " is in a form that is not known");
    return in;
}

// Which of up to 64 things are there.
class Flags {
public:
    Flags() = default;
    explicit Flags(std::uint64_t bits) : bits_(bits) {}
    bool put(bool flag) {
        bits_ |= static_cast<std::uint64_t>(flag) << next_++;
        return flag;
    }
    bool get() { return (bits_ >> next_++ & 1) != 0; }
    std::uint64_t bits() const { return bits_; }

private:
    std::uint64_t bits_ = 0;
    unsigned next_ = 0;
};

void put_end(ByteWriter& out, const AttemptEnd& end) {
    Flags flags;
    flags.put(end.succeeded);
    flags.put(end.clean);
    flags.put(end.reported);
    flags.put(end.alone);
    flags.put(end.counted);
    flags.put(end.at.has_value());
    flags.put(end.matched != 0);
    flags.put(end.judge != 0);
    out.choice(end.cause);
    out.choice(end.ran);
    out.number(flags.bits());
    out.integer(end.exit_code);
    if (end.at) out.at(*end.at);
    if (end.matched != 0) out.number(end.matched);
    if (end.judge != 0) out.number(end.judge);
}

AttemptEnd get_end(ByteReader& in) {
    AttemptEnd end;
    end.cause = in.choice(Cause::corrupt);
    end.ran = in.choice(Ran::yes);
    Flags flags(in.number());
    end.succeeded = flags.get();
    end.clean = flags.get();
    end.reported = flags.get();
    end.alone = flags.get();
    end.counted = flags.get();
    const bool has_date = flags.get();
    const bool was_matched = flags.get();
    const bool has_judge = flags.get();
    end.exit_code = static_cast<std::int32_t>(in.integer());
    if (has_date) end.at = in.at<WallTime>();
    if (was_matched) end.matched = static_cast<std::uint8_t>(in.small());
    if (has_judge) end.judge = in.number();
    return end;
}

void put_terms(ByteWriter& out, const Terms& terms) {
    out.choice(terms.isolation);
    out.choice(terms.effects);
    out.number(terms.asks);
    out.integer(terms.hold.us);
    out.integer(terms.release_after.us);
    out.text(terms.rule);
}

Terms get_terms(ByteReader& in) {
    Terms terms;
    terms.isolation = in.choice(Isolation::exclusive);
    terms.effects = in.choice(Effects::once);
    terms.asks = in.number() != 0;
    terms.hold = {in.integer()};
    terms.release_after = {in.integer()};
    terms.rule = interned(in.text());
    return terms;
}

void put_kept(ByteWriter& out, const Kept& kept) {
    out.choice(kept.where);
    if (kept.where == Kept::Where::here) out.text(kept.bytes);
}

Kept get_kept(ByteReader& in) {
    Kept kept{.where = in.choice(Kept::Where::apart)};
    if (kept.where == Kept::Where::here) kept.bytes = in.text();
    return kept;
}

void put_attempt(ByteWriter& out, const AttemptRow& a) {
    Flags flags;
    flags.put(a.start_committed);
    flags.put(a.clean);
    flags.put(a.end.has_value());
    flags.put(a.late_result.has_value());
    flags.put(a.ended_on.has_value());
    flags.put(a.started_on.has_value());
    out.number(flags.bits());
    out.number(a.epoch.value);
    out.number(a.generation);
    out.number(a.assignment);
    out.number(a.owners.size());
    for (const auto owner : a.owners) out.number(owner.value);
    put_terms(out, a.terms);
    out.at(a.claimed_at);
    out.at(a.claimed_on);
    out.number(a.progress_number);
    out.text(a.rule);
    if (a.end) put_end(out, *a.end);
    if (a.late_result) put_end(out, *a.late_result);
    if (a.ended_on) out.at(*a.ended_on);
    if (a.started_on) out.at(*a.started_on);
    put_kept(out, a.checkpoint);
    put_kept(out, a.evidence);
}

AttemptRow get_attempt(ByteReader& in) {
    AttemptRow a;
    Flags flags(in.number());
    a.start_committed = flags.get();
    a.clean = flags.get();
    const bool has_end = flags.get();
    const bool has_late_result = flags.get();
    const bool has_ended_on = flags.get();
    const bool has_started_on = flags.get();
    a.epoch = {in.small()};
    a.generation = in.small();
    a.assignment = in.number();
    a.owners.resize(in.count());
    for (auto& owner : a.owners) owner = {in.number()};
    if (a.owners.empty()) fail_corrupt("a stored attempt has no owner");
    a.terms = get_terms(in);
    a.claimed_at = in.at<ServiceTime>();
    a.claimed_on = in.at<WallTime>();
    a.progress_number = in.number();
    a.rule = interned(in.text());
    if (has_end) a.end = get_end(in);
    if (has_late_result) a.late_result = get_end(in);
    if (has_ended_on) a.ended_on = in.at<WallTime>();
    if (has_started_on) a.started_on = in.at<WallTime>();
    a.checkpoint = get_kept(in);
    a.evidence = get_kept(in);
    return a;
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

std::string encode(const Offer& offer) {
    ByteWriter out;
    out.number(form);
    out.text(offer.tenant);
    for (const auto* names : {&offer.queues, &offer.kinds}) {
        out.number(names->size());
        for (const auto& name : *names) out.text(name);
    }
    return out.take();
}

Offer decode_offer(std::string_view bytes) {
    auto in = open(bytes, "a session's offer");
    Offer offer;
    offer.tenant = in.text();
    for (auto* names : {&offer.queues, &offer.kinds}) {
        names->resize(in.count());
        for (auto& name : *names) name = in.text();
    }
    in.end();
    return offer;
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
    evidence.ran_for = {in.integer()};
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
    entry.time_to_detect = {in.integer()};
    entry.wait = {in.integer()};
    entry.worker = in.text();
    if (in.number() != 0) entry.end = get_end(in);
    in.end();
    return entry;
}

std::string encode(const AttemptRow& attempt) {
    ByteWriter out;
    out.number(form);
    put_attempt(out, attempt);
    return out.take();
}

AttemptRow decode_attempt(std::string_view bytes) {
    auto in = open(bytes, "an attempt");
    auto attempt = get_attempt(in);
    in.end();
    return attempt;
}

std::string encode_life(const JobRow& job) {
    ByteWriter out;
    Flags flags;
    const bool total = flags.put(job.total_deadline.has_value());
    const bool lost = flags.put(job.presumed_lost.has_value());
    const bool attempted = flags.put(!job.attempts.empty());
    out.number(form);
    out.number(flags.bits());
    out.number(job.epoch.value);
    out.number(job.generation);
    if (total) out.at(*job.total_deadline);
    if (lost) {
        out.number(job.presumed_lost->epoch.value);
        out.number(job.presumed_lost->session.value);
    }
    if (attempted) put_attempt(out, job.attempts.back());
    return out.take();
}

void decode_life(std::string_view bytes, JobRow& job) {
    auto in = open(bytes, "a job's life");
    Flags flags(in.number());
    job.epoch = {in.small()};
    job.generation = in.small();
    if (flags.get()) job.total_deadline = in.at<ServiceTime>();
    if (flags.get()) {
        const Epoch epoch{in.small()};
        job.presumed_lost = JobRow::PresumedLost{epoch, SessionId{in.number()}};
    }
    job.attempts.clear();
    if (flags.get()) job.attempts.push_back(get_attempt(in));
    in.end();
    const auto newest = job.attempts.empty() ? Epoch{} : job.attempts.back().epoch;
    if (newest != job.epoch) fail_corrupt("a job's newest attempt is not of its epoch");
    job.has_history = job.epoch.value <= 1;
}

}  // namespace perdure::sqlite
