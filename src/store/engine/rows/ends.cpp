#include "store/engine/rows/ends.h"

#include "store/engine/rows/fields.h"

namespace perdure::store {

void put_end(ByteWriter& out, const AttemptEnd& end) {
    Flags flags;
    flags.put(end.succeeded);
    flags.put(end.clean);
    flags.put(end.reported);
    flags.put(end.alone);
    flags.put(end.counted);
    flags.put(end.at.has_value());
    flags.put(end.matched != 0);
    flags.put(end.policy_fingerprint != 0);
    out.choice(end.cause);
    out.choice(end.ran);
    out.number(flags.bits());
    out.integer(end.exit_code);
    if (end.at) out.at(*end.at);
    if (end.matched != 0) out.number(end.matched);
    if (end.policy_fingerprint != 0) out.number(end.policy_fingerprint);
}

AttemptEnd get_end(ByteReader& in) {
    AttemptEnd end;
    end.cause = in.choice(last_cause);
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
    if (has_judge) end.policy_fingerprint = in.number();
    return end;
}

}  // namespace perdure::store
