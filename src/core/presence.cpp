#include "core/presence.h"

namespace perdure {

bool is_silent(ServiceTime heard_at, ServiceTime now, const Timing& timing) {
    return now >= heard_at + timing.suspect;
}

PresenceDecision decide_presence(const PresenceFacts& f, const Timing& timing) {
    const bool suspect = is_silent(f.heard_at, f.now, timing);
    if (f.running > 0) return {suspect, false, "O3/has_attempts"};
    if (f.now >= f.lease_deadline) return {suspect, true, "O3/lease_over"};
    if (f.slots == 0 && suspect) return {suspect, true, "L2/drained"};
    return {suspect, false, "O3/there"};
}

OutputPieceDecision decide_output_piece(const OutputPieceFacts& f) {
    if (!f.session_is_open) return {false, "O1/session_ended"};
    if (!f.in_run_under_it) return {false, "O1/not_its_attempt"};
    return {true, "O1/its_own"};
}

}  // namespace perdure
