// The bytes of an attempt, and of a job's life with its newest attempt in it. A life is written at
// every move of its job: what is usual takes no bytes.
#include <algorithm>
#include <utility>
#include <vector>

#include "store/engine/rows/attempt_forms.h"
#include "store/engine/rows/codec.h"
#include "store/engine/rows/fields.h"

namespace perdure::store {

namespace {

// Form 1 had every field; see attempt_forms.h. Form 2 did not know who is watched.
constexpr std::uint64_t attempt_form = 3;
constexpr std::uint64_t form_with_watched = 3;

// The usual values since form 2.
constexpr Duration usual_hold = minutes(5);
constexpr std::string_view usual_terms_rule = "O7/fenced";
constexpr std::string_view usual_end_rule = "E1/succeeded";

// --- the fields: what is mostly there comes first, so that their bits make a small number
// ---------

template <class Record>
constexpr bool is_being_read = !std::is_const_v<Record>;

template <class End, class Fields>
void show_end(End& end, Fields& fields) {
    fields.flag(end.succeeded);
    fields.flag(end.reported);
    fields.flag(end.counted);
    fields.flag(end.clean);
    fields.flag(end.alone);
    fields(end.cause, Cause::exit);
    fields(end.ran, Ran::yes);
    fields(end.exit_code);
    fields(end.at);
    fields(end.matched);
    fields(end.policy_fingerprint);
}

template <class MaybeEnd, class Fields>
void show_maybe_end(MaybeEnd& end, Fields& fields) {
    bool is_there = end.has_value();
    fields.flag(is_there);
    if (!is_there) return;
    if constexpr (is_being_read<MaybeEnd>) end.emplace();
    show_end(*end, fields);
}

// As the time since then, which is short. Differences wrap, so that every instant comes back.
template <class MaybeInstant, class Fields>
void show_since(WallTime then, MaybeInstant& instant, Fields& fields) {
    const auto start = static_cast<std::uint64_t>(then.us);
    std::optional<Duration> since;
    if (instant)
        since = {static_cast<std::int64_t>(static_cast<std::uint64_t>(instant->us) - start)};
    fields(since);
    if constexpr (is_being_read<MaybeInstant>) {
        if (since)
            instant =
                WallTime{static_cast<std::int64_t>(static_cast<std::uint64_t>(since->us) + start)};
    }
}

template <class AnyTerms, class Fields>
void show_terms(AnyTerms& terms, Fields& fields) {
    fields(terms.isolation, Isolation::fenced);
    fields(terms.effects, Effects::repeatable);
    fields.flag(terms.asks);
    fields(terms.hold, usual_hold);
    fields(terms.release_after);
    fields.rule(terms.rule, usual_terms_rule);
}

template <class AnyKept, class Fields>
void show_blob_ref(AnyKept& kept, Fields& fields) {
    fields(kept.where);
    if (kept.where == BlobRef::Where::here) fields(kept.bytes);
}

template <class Attempt, class Fields>
void show_attempt(Attempt& attempt, Fields& fields) {
    fields(attempt.assignment);
    fields(attempt.owners);
    fields(attempt.claimed_at);
    fields(attempt.claimed_on);
    fields.flag(attempt.start_committed);
    show_maybe_end(attempt.end, fields);
    fields.rule(attempt.rule, attempt.end ? usual_end_rule : std::string_view{});
    show_since(attempt.claimed_on, attempt.ended_on, fields);
    show_since(attempt.claimed_on, attempt.started_on, fields);
    fields(attempt.epoch, Epoch{1});
    fields(attempt.generation, std::uint32_t{1});
    fields.flag(attempt.clean);
    fields(attempt.progress_number);
    show_terms(attempt.terms, fields);
    show_blob_ref(attempt.checkpoint, fields);
    show_blob_ref(attempt.evidence, fields);
    show_maybe_end(attempt.late_result, fields);
}

template <class Job, class Fields>
void show_life(Job& job, Fields& fields) {
    fields(job.epoch);
    fields(job.generation, std::uint32_t{1});
    bool is_attempted = !job.attempts.empty();
    bool is_presumed_lost = job.presumed_lost.has_value();
    fields.flag(is_attempted);
    fields.flag(is_presumed_lost);
    fields(job.total_deadline);
    if constexpr (is_being_read<Job>) {
        if (is_attempted) job.attempts.emplace_back();
        if (is_presumed_lost) job.presumed_lost.emplace();
    }
    if (is_attempted) show_attempt(job.attempts.back(), fields);
    if (!is_presumed_lost) return;
    fields(job.presumed_lost->epoch);
    fields(job.presumed_lost->session);
}

// By class, those that are not zero. New classes go to the end of CauseClass.
void put_counts(ByteWriter& out, const CauseCounts& counts) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> classes;
    for (std::uint32_t i = 0; i < counts.of.size(); ++i)
        if (counts.of[i] > 0) classes.emplace_back(i, counts.of[i]);
    put(out, classes);
    put(out, counts.did_not_run_in_a_row);
    put(out, counts.of_rules);
}

void get_counts(ByteReader& in, CauseCounts& counts) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> classes;
    get(in, classes);
    for (const auto& [number, count] : classes) {
        if (number >= counts.of.size()) fail_corrupt("a class of causes is not known");
        counts.of[number] = count;
    }
    get(in, counts.did_not_run_in_a_row);
    get(in, counts.of_rules);
}

// Behind all fields of a life: rows of this form that earlier releases wrote end before it. A job's
// first attempt has nothing before it, which takes no bytes.
template <class Job, class Fields>
void show_earlier(Job& job, Fields& fields) {
    bool is_there = job.epoch.value > 1 && job.earlier;
    fields.flag(is_there);
    if constexpr (is_being_read<Job>) {
        job.earlier.reset();
        if (is_there || job.epoch.value <= 1) job.earlier.emplace();
    }
    if (!is_there) return;
    auto& earlier = *job.earlier;
    fields(earlier.counted_by);
    fields.with(earlier.counts, put_counts, get_counts);
    fields(earlier.checkpoint);
}

// Behind that, for the same reason. Mostly nobody watches, which takes no bytes.
template <class Job, class Fields>
void show_watched(Job& job, Fields& fields) {
    bool is_watched = job.watched.value_or(true);
    fields.flag(is_watched);
    if constexpr (is_being_read<Job>) job.watched = is_watched;
}

// Behind that, as well. Mostly nobody has done anything to a job.
void put_acts(ByteWriter& out, const std::vector<Act>& acts) {
    out.number(acts.size());
    for (const auto& act : acts) {
        out.choice(act.kind);
        out.text(act.by);
        out.at(act.on);
    }
}
void get_acts(ByteReader& in, std::vector<Act>& acts) {
    acts.resize(in.count());
    if (acts.size() > acts_max) fail_corrupt("a job has more acts than are kept");
    for (auto& act : acts) {
        act.kind = in.choice(last_act_kind);
        act.by = in.text();
        act.on = in.at<WallTime>();
    }
}
template <class Job, class Fields>
void show_acts(Job& job, Fields& fields) {
    fields.with(job.acts, put_acts, get_acts);
}

// ------------------------------------------------------------------------------------------------

std::uint64_t form_of(ByteReader& in, const char* what) {
    const auto found = in.number();
    if (found == 0 || found > attempt_form)
        fail_corrupt(std::string(what) + " is in a form that is not known");
    return found;
}

void check(const AttemptRow& attempt) {
    if (attempt.owners.empty()) fail_corrupt("a stored attempt has no owner");
}

}  // namespace

std::string encode(const AttemptRow& attempt) {
    return write_fields(attempt_form, [&](auto& fields) { show_attempt(attempt, fields); });
}

AttemptRow decode_attempt(std::string_view bytes) {
    ByteReader in(bytes);
    AttemptRow attempt;
    if (form_of(in, "an attempt") == 1) {
        attempt = get_attempt_of_form_1(in);
        in.end();
    } else {
        FieldReader fields(in);
        show_attempt(attempt, fields);
        fields.end();
    }
    check(attempt);
    return attempt;
}

std::string encode_life(const JobRow& job) {
    return write_fields(attempt_form, [&](auto& fields) {
        show_life(job, fields);
        show_earlier(job, fields);
        show_watched(job, fields);
        show_acts(job, fields);
    });
}

void decode_life(std::string_view bytes, JobRow& job) {
    ByteReader in(bytes);
    job.attempts.clear();
    job.acts.clear();
    const auto form = form_of(in, "a job's life");
    if (form == 1) {
        get_life_of_form_1(in, job);
        in.end();
        job.earlier.reset();
        if (job.epoch.value <= 1) job.earlier.emplace();
    } else {
        FieldReader fields(in);
        show_life(job, fields);
        show_earlier(job, fields);
        show_watched(job, fields);
        show_acts(job, fields);
        fields.end();
    }
    if (form < form_with_watched) job.watched.reset();
    for (const auto& attempt : job.attempts) check(attempt);
    const auto newest = job.attempts.empty() ? Epoch{} : job.attempts.back().epoch;
    if (newest != job.epoch) fail_corrupt("a job's newest attempt is not of its epoch");
    if (job.earlier && job.earlier->checkpoint >= std::max(job.epoch, Epoch{1}))
        fail_corrupt("a job's earlier checkpoint is of a later attempt");
    job.has_history = job.epoch.value <= 1;
}

}  // namespace perdure::store
