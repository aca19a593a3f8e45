// Ending: how an attempt ends in the tables, whoever said so, and where its job goes then.
#pragma once

#include <vector>

#include "core/ownership/hearing.h"
#include "core/policy/recovery.h"
#include "store/engine/state/state.h"

namespace perdure::store {

// What judges the end of an attempt: the policy of its job, or of its newest owner's worker.
PolicyChoice policy_of(const State& state, const JobRow& job, const AttemptRow& attempt);

// How often each class of causes ended an attempt before this one, of the job's present generation,
// as this policy counts (E4). Nothing is read unless another policy has counted so far.
CauseCounts counts_before(JobReader& rows, const JobRow& job, Epoch epoch,
                          const PolicyChoice& policy);
// The same, counted anew from the last of those attempts.
constexpr std::uint32_t recounted_max = 1'000;
CauseCounts recount(JobReader& rows, const JobRow& job, Epoch before, const PolicyChoice& policy);

// What all attempts of the job leave to the one that begins now.
EarlierAttempts left_to(State& state, JobRow& job, const AttemptRow& next);

// How an attempt has ended, as its policy sees it, and what its job does then.
struct Judgement {
    AttemptEnd end;
    Next next;
    std::optional<CauseCounts> before = {};  // what the policy has counted, if one was asked
};
// Looks only. `evidence` came with the end, if anything did.
Judgement judge(State& state, const JobRow& job, const AttemptRow& attempt, AttemptEnd end,
                const Evidence* evidence = nullptr);

// What judging and recording the end of each of these attempts asks for is in memory then, and who
// may follow their jobs.
void preload_ends(State& state, const std::vector<AttemptKey>& attempts);

// Records the end and moves the job on, all in one: outcome or line, holders, promotion, ledger.
// What was counted is written with the end that it counts (E4).
void end_attempt(State& state, JobRow& job, Epoch epoch, const Judgement& judgement,
                 const Sighting& seen);

// What was seen of a session's starts (O3). True: it has turned deaf by this.
bool note_hearing(State& state, SessionId session, HearingFacts::Event event, JobId job);

}  // namespace perdure::store
