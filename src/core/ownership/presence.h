// Presence: whether a session is still there, as people see it, and whether what it says of an
// attempt's output counts (rules O1, O3), and when its row can go.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/ownership/service_time.h"
#include "core/ownership/timing.h"

namespace perdure {

// O3: so long without a heartbeat that it gets no claims until its next one.
bool is_silent(ServiceTime heard_at, ServiceTime now, const Timing& timing);

struct PresenceFacts {
    ServiceTime heard_at;
    ServiceTime lease_deadline;
    bool draining = false;  // it has said that it leaves
    std::uint32_t running = 0;
    ServiceTime now;
};
struct PresenceDecision {
    bool suspect = false;
    bool left = false;  // nobody speaks for it any more and it has nothing: it is history
    std::string_view rule;
};
PresenceDecision decide_presence(const PresenceFacts& facts, const Timing& timing);

// A piece of what an attempt has printed counts while the attempt is in `run`, under the very
// session that sends it, or if it is the rest of what has ended there [P2]. What may still be so
// later is sent again, never thrown away (O1).
struct OutputPieceFacts {
    bool session_is_open = false;
    bool in_run_under_it = false;
    bool in_run_elsewhere = false;  // this very attempt, under another session
    // Presumed lost, and the sender's next heartbeat brings it back.
    bool may_be_reinstated = false;
    // It has ended by what a worker of the sender's state directory said: after a reboot that is
    // said by the opening of the session, before any of what was left on disk can be sent.
    bool ended_in_its_directory = false;
};
enum class OutputAnswer { accept, again, fenced };
struct OutputPieceDecision {
    OutputAnswer answer = OutputAnswer::fenced;
    std::string_view rule;
};
OutputPieceDecision decide_output_piece(const OutputPieceFacts& facts);

// Output is kept in another database than attempts: when it has been appended, its attempt may have
// been given up. What belongs to such a one, and it cannot come back, is taken back [P2].
struct AppendedPieceFacts {
    bool in_run = false;         // under whatever session: a takeover leaves the attempt as it is
    bool end_reported = false;   // by who ran it: it belongs to what that has said
    bool may_come_back = false;  // presumed lost, and not claimed since
};
struct AppendedPieceDecision {
    enum class Kind { keep, ask_again, take_back } kind = Kind::keep;
    std::string_view rule;
};
AppendedPieceDecision decide_appended_piece(const AppendedPieceFacts& facts);

// The row of a session goes once no attempt can name it: nothing was claimed for it later than
// `suspect` after it was last heard, so that jobs submitted well after that have never been its.
struct SessionRetentionFacts {
    bool owns_attempts = false;
    ServiceTime lease_deadline;
    ServiceTime heard_at;
    std::optional<ServiceTime> oldest_submit;  // of all jobs that are stored
    ServiceTime now;
};
struct SessionRetentionDecision {
    bool forget = false;
    std::string_view rule;
};
SessionRetentionDecision decide_session_retention(const SessionRetentionFacts& facts);

// The row of a server that has died is of no use but for its mark of ids, which the store keeps
// (L3). Every live one commits at least once a second; uses of the store, which are groups, are far
// fewer than `uses_until_dead` in the 2 s after which a silent server gives itself up (T3).
inline constexpr std::uint64_t uses_until_dead = 20'000;
struct ServerRetentionFacts {
    std::uint64_t last_use = 0;  // what the store's count of uses was when it committed last
    std::uint64_t uses = 0;      // and what it is now
};
struct ServerRetentionDecision {
    bool forget = false;
    std::string_view rule;
};
ServerRetentionDecision decide_server_retention(const ServerRetentionFacts& facts);

}  // namespace perdure
