// Who: under which identity something was asked, as access control has established it from the
// connection. No body of a request can name one (A6).
//   W1  A job keeps who submitted it. Callbacks are whose who has asked for them, retries and
//       children whose the first job is: nobody gets another's rights by naming a job of theirs.
//   W2  What a person did to a job is kept with it, the newest `acts_max` of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace perdure {

struct Who {
    std::string name;                  // "alice", "token deploy"; empty: nobody knows
    std::optional<std::uint32_t> uid;  // of an account of the server's host; a token has none

    friend bool operator==(const Who&, const Who&) = default;
};

// As whom a job could be run by a worker that runs each as whoever submitted it.
enum class SubmitterKind { no_account, account, root };
constexpr SubmitterKind kind_of(const Who& submitter) {
    if (!submitter.uid) return SubmitterKind::no_account;
    return *submitter.uid == 0 ? SubmitterKind::root : SubmitterKind::account;
}
inline constexpr SubmitterKind last_submitter_kind = SubmitterKind::root;

// Whose jobs a worker takes. Only one that runs each as its submitter takes less than anybody's.
enum class TakesFrom { anybody, accounts, accounts_and_root };
inline constexpr TakesFrom last_takes_from = TakesFrom::accounts_and_root;
constexpr bool takes(TakesFrom from, SubmitterKind submitter) {
    switch (from) {
        case TakesFrom::anybody: return true;
        case TakesFrom::accounts: return submitter == SubmitterKind::account;
        case TakesFrom::accounts_and_root: return submitter != SubmitterKind::no_account;
    }
    return false;
}

enum class ActKind { cancel, hold, unhold, release, accept, discard };
inline constexpr ActKind last_act_kind = ActKind::discard;
constexpr std::string_view to_string(ActKind kind) {
    switch (kind) {
        case ActKind::cancel: return "cancelled";
        case ActKind::hold: return "held";
        case ActKind::unhold: return "unheld";
        case ActKind::release: return "released";
        case ActKind::accept: return "accepted";
        case ActKind::discard: return "discarded";
    }
    return "cancelled";
}

struct Act {
    ActKind kind = ActKind::cancel;
    std::string by;  // Who::name
    WallTime on;

    friend bool operator==(const Act&, const Act&) = default;
};
inline constexpr std::size_t acts_max = 8;

// The newest last; the oldest goes if there are too many.
inline void add_act(std::vector<Act>& acts, Act act) {
    if (acts.size() >= acts_max) acts.erase(acts.begin());
    acts.push_back(std::move(act));
}

}  // namespace perdure
