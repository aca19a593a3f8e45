#include "core/ownership/presence.h"

namespace perdure {
namespace {

// More than any wait for a claim, and than the clocks of two servers differ, which draw the ids by
// which the oldest job is found.
constexpr auto session_kept_for = days(1);

}  // namespace

bool is_silent(ServiceTime heard_at, ServiceTime now, const Timing& timing) {
    return now >= heard_at + timing.suspect;
}

PresenceDecision decide_presence(const PresenceFacts& f, const Timing& timing) {
    const bool suspect = is_silent(f.heard_at, f.now, timing);
    if (f.running > 0) return {suspect, false, "O3/has_attempts"};
    if (f.now >= f.lease_deadline) return {suspect, true, "O3/lease_over"};
    if (f.draining && suspect) return {suspect, true, "L2/drained"};
    return {suspect, false, "O3/there"};
}

OutputPieceDecision decide_output_piece(const OutputPieceFacts& f) {
    using Answer = OutputAnswer;
    if (f.session_is_open && f.in_run_under_it) return {Answer::accept, "O1/its_own"};
    if (f.session_is_open && f.ended_in_its_directory) return {Answer::accept, "O1/left_on_disk"};
    if (f.may_be_reinstated) return {Answer::again, "O1/may_be_reinstated"};
    // The session that took the attempt over may be the sender's own: it has not heard of it yet.
    const bool runs = f.in_run_under_it || f.in_run_elsewhere;
    if (!f.session_is_open && runs) return {Answer::again, "O1/session_ended"};
    return {Answer::fenced, "O1/not_its_attempt"};
}

AppendedPieceDecision decide_appended_piece(const AppendedPieceFacts& f) {
    using Kind = AppendedPieceDecision::Kind;
    if (f.in_run || f.end_reported) return {Kind::keep, "O1/its_own"};
    // It is the very text that it will send again: nothing of it is lost or doubled.
    if (f.may_come_back) return {Kind::ask_again, "O1/may_come_back"};
    return {Kind::take_back, "O1/given_up_meanwhile"};
}

SessionRetentionDecision decide_session_retention(const SessionRetentionFacts& f) {
    if (f.owns_attempts) return {false, "O3/has_attempts"};
    if (f.now < f.lease_deadline) return {false, "O3/there"};
    const auto unneeded_from = f.heard_at + session_kept_for;
    if (f.now < unneeded_from) return {false, "O1/may_come_back"};
    if (f.oldest_submit && *f.oldest_submit < unneeded_from)
        return {false, "O1/an_attempt_may_name_it"};
    return {true, "O1/nobody_names_it"};
}

ServerRetentionDecision decide_server_retention(const ServerRetentionFacts& f) {
    if (f.last_use + uses_until_dead > f.uses) return {false, "L3/may_live"};
    return {true, "L3/stopped_committing"};
}

}  // namespace perdure
