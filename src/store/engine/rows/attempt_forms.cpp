#include "store/engine/rows/attempt_forms.h"

#include "store/engine/rows/codec.h"
#include "store/engine/rows/ends.h"
#include "store/engine/rows/fields.h"

namespace perdure::store {
namespace {

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

BlobRef get_blob_ref(ByteReader& in) {
    BlobRef kept{.where = in.choice(BlobRef::Where::apart)};
    if (kept.where == BlobRef::Where::here) kept.bytes = in.text();
    return kept;
}

}  // namespace

AttemptRow get_attempt_of_form_1(ByteReader& in) {
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
    a.terms = get_terms(in);
    a.claimed_at = in.at<ServiceTime>();
    a.claimed_on = in.at<WallTime>();
    a.progress_number = in.number();
    a.rule = interned(in.text());
    if (has_end) a.end = get_end(in);
    if (has_late_result) a.late_result = get_end(in);
    if (has_ended_on) a.ended_on = in.at<WallTime>();
    if (has_started_on) a.started_on = in.at<WallTime>();
    a.checkpoint = get_blob_ref(in);
    a.evidence = get_blob_ref(in);
    return a;
}

void get_life_of_form_1(ByteReader& in, JobRow& job) {
    Flags flags(in.number());
    job.epoch = {in.small()};
    job.generation = in.small();
    if (flags.get()) job.total_deadline = in.at<ServiceTime>();
    if (flags.get()) {
        const Epoch epoch{in.small()};
        job.presumed_lost = JobRow::PresumedLost{epoch, SessionId{in.number()}};
    }
    job.attempts.clear();
    if (flags.get()) job.attempts.push_back(get_attempt_of_form_1(in));
}

}  // namespace perdure::store
