// Aftermath (rule E2): an attempt has ended for the server. What is known about its process?
#pragma once

#include <optional>
#include <string_view>

#include "core/policy/cause.h"

namespace perdure {

struct AftermathFacts {
    std::optional<AttemptEnd> end;
    std::optional<AttemptEnd> late_result;
    // Of the newest session on its worker's state directory:
    bool session_is_open = false;
    bool same_boot = true;  // as the session that had the attempt
    bool suspect = false;   // nothing was heard of it lately
};
enum class Aftermath {
    dead,          // for certain
    reachable,     // it may live, and its worker can be told to stop it
    out_of_reach,  // it may live where nobody hears us
};
struct AftermathDecision {
    Aftermath aftermath = Aftermath::out_of_reach;
    std::string_view rule;
};

constexpr AftermathDecision decide_aftermath(const AftermathFacts& f) {
    // A result that came late came from a process that has ended.
    if (f.late_result) return {Aftermath::dead, "E2/late_result"};
    if (f.end && f.end->reported) return {Aftermath::dead, "E2/reported"};
    if (f.end && f.end->ran == Ran::no) return {Aftermath::dead, "E2/did_not_run"};
    if (!f.same_boot) return {Aftermath::dead, "O5/rebooted"};
    if (f.session_is_open && !f.suspect) return {Aftermath::reachable, "E2/reachable"};
    return {Aftermath::out_of_reach, "E2/out_of_reach"};
}

// From the attempt's own row alone.
constexpr bool is_known_dead(const std::optional<AttemptEnd>& end,
                             const std::optional<AttemptEnd>& late_result) {
    return decide_aftermath({.end = end, .late_result = late_result}).aftermath == Aftermath::dead;
}

// May a person's release go on? Asked after a process that can be reached was told to stop.
struct ReleaseFacts {
    Aftermath aftermath = Aftermath::out_of_reach;
    std::optional<AttemptEnd> end_since;  // that became known since it was told
    bool may_still_run = false;           // the person's flag --may-still-run
};
enum class Release { goes_on, result_came, may_still_run };
struct ReleaseDecision {
    Release release = Release::may_still_run;
    std::string_view rule;
};

constexpr ReleaseDecision decide_release(const ReleaseFacts& f) {
    if (f.aftermath == Aftermath::dead) return {Release::goes_on, "E2/known_dead"};
    // What has just succeeded is not run again unless the person says so once more.
    if (f.end_since && f.end_since->succeeded) return {Release::result_came, "E2/result_came"};
    if (f.end_since) return {Release::goes_on, "E2/stopped"};
    if (f.may_still_run) return {Release::goes_on, "E2/person_has_looked"};
    return {Release::may_still_run, "E2/may_still_run"};
}

}  // namespace perdure
