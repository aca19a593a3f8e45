#include "core/policy/cause.h"

namespace perdure {
namespace {

constexpr std::int64_t last_date_us = 253'402'300'799'999'999;  // the last one with four digits

}  // namespace

std::optional<Contradiction> find_contradiction(const AttemptEnd& end) {
    if (end.cause == Cause::timeout_queue)
        return Contradiction{"cause", "an attempt cannot end by this: it is for jobs that wait"};
    if (end.cause == Cause::verdict_at && !end.at)
        return Contradiction{"at", "must be given with verdict(at)"};
    if (end.at && (end.at->us < 0 || end.at->us > last_date_us))
        return Contradiction{"at", "must be a date from 1970 to 9999"};
    if (end.cause != Cause::verdict_at && end.at)
        return Contradiction{"at", "is only for verdict(at)"};
    if (end.cause == Cause::exit && end.ran != Ran::yes)
        return Contradiction{"ran", "must be yes: only what ran can exit"};
    if (!end.succeeded) return std::nullopt;
    if (end.cause != Cause::exit) return Contradiction{"cause", "must be exit if it succeeded"};
    if (end.exit_code != 0) return Contradiction{"exit_code", "must be 0 if it succeeded"};
    return std::nullopt;
}

}  // namespace perdure
