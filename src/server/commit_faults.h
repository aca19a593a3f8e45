// The fault points around a commit: which of them a group passes depends on what is in it.
// Unless faults are armed, nothing is looked at.
#pragma once

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/fault.h"
#include "ports/store.h"

namespace perdure {

struct CommitKinds {
    bool submit = false;
    bool claim = false;
    bool start = false;
    bool report = false;
    bool tick = false;
};

inline bool has_assignment(const ChangeReply& reply) {
    const auto* claimed = reply ? std::get_if<Claimed>(&*reply) : nullptr;
    return claimed && !claimed->assignments.empty();
}

inline CommitKinds kinds_for_faults(const Group& group) {
    CommitKinds kinds;
    if (!faults_are_armed()) return kinds;
    for (const auto& change : group.changes) {
        kinds.submit |= std::holds_alternative<Submit>(change);
        kinds.submit |= std::holds_alternative<SubmitAll>(change);
        kinds.claim |= std::holds_alternative<Claim>(change);
        kinds.start |= std::holds_alternative<Start>(change);
        kinds.report |= std::holds_alternative<Report>(change);
        kinds.tick |= std::holds_alternative<Tick>(change);
    }
    return kinds;
}

// Dies, or answers what the store shall seem to have answered; empty: go on.
inline std::optional<Error> fault_before_commit(const CommitKinds& kinds) {
    if (kinds.submit) die_if(Fault::server_before_submit);
    if (kinds.claim) die_if(Fault::server_before_claim);
    if (kinds.start) die_if(Fault::server_before_start);
    if (kinds.report) die_if(Fault::server_before_report);
    if (kinds.tick) die_if(Fault::server_before_tick);
    if (kinds.report && strikes(Fault::store_conflict))
        return error(Errc::conflict, "fault point store.conflict");
    if ((kinds.report || kinds.submit) && strikes(Fault::store_sync_fails))
        return error(Errc::fenced, "fault point store.sync_fails: the disk did not take a commit");
    if (kinds.submit && strikes(Fault::store_full))
        return error(Errc::unavailable, "fault point store.full: no room on the disk");
    return std::nullopt;
}

// Dies, or answers that the reply was lost; empty: go on.
inline std::optional<Error> fault_after_commit(const CommitKinds& kinds, const GroupReply& reply) {
    if (!faults_are_armed()) return std::nullopt;
    if (kinds.submit) die_if(Fault::server_after_submit);
    const bool claimed = std::any_of(reply.replies.begin(), reply.replies.end(), has_assignment);
    if (claimed) die_if(Fault::server_after_claim);
    if (kinds.start) die_if(Fault::server_after_start);
    if (kinds.report) die_if(Fault::server_after_report);
    if (kinds.tick) die_if(Fault::server_after_tick);
    const bool matters = kinds.submit || kinds.start || kinds.report || claimed;
    if (matters && strikes(Fault::store_reply_lost))
        return error(Errc::outcome_unknown, "fault point store.reply_lost");
    return std::nullopt;
}

}  // namespace perdure
