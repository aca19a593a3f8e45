// Parts of a spec whose bytes are the same in every form.
#pragma once

#include "core/job/job.h"
#include "store/engine/rows/bytes.h"

namespace perdure::store {

inline void put(ByteWriter& out, const CustomRule& rule) {
    out.number(rule.causes.size());
    for (const auto cause : rule.causes) out.choice(cause);
    out.number(rule.exit_codes.size());
    for (const auto code : rule.exit_codes) out.integer(code);
    out.text(rule.text);
    out.number(rule.times);
    out.integer(rule.wait.us);
    out.integer(rule.wait_max.us);
    out.choice(rule.growth);
    out.number(rule.jitter_percent);
    out.number(rule.another_worker);
    out.choice(rule.then);
}

inline void get(ByteReader& in, CustomRule& rule) {
    rule.causes.resize(in.count());
    for (auto& cause : rule.causes) cause = in.choice(last_cause);
    rule.exit_codes.resize(in.count());
    for (auto& code : rule.exit_codes) code = static_cast<std::int32_t>(in.integer());
    rule.text = in.text();
    rule.times = in.small();
    rule.wait = {in.integer()};
    rule.wait_max = {in.integer()};
    rule.growth = in.choice(Growth::exponential);
    rule.jitter_percent = in.small();
    rule.another_worker = in.number() != 0;
    rule.then = in.choice(LastResort::cancel);
}

inline void put(ByteWriter& out, const After& after) {
    out.number(after.job.value);
    out.choice(after.on);
}
inline void get(ByteReader& in, After& after) {
    after.job = {in.number()};
    after.on = in.choice(Trigger::end);
}

inline void put(ByteWriter& out, const CallbackOf& of) {
    out.number(of.job.value);
    out.number(of.generation);
    out.number(of.number);
}
inline void get(ByteReader& in, CallbackOf& of) {
    of.job = {in.number()};
    of.generation = in.small();
    of.number = in.small();
}

}  // namespace perdure::store
