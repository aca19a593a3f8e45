// Sweeper: looks for what may be overdue and has it judged and carried out. Every server may sweep
// at any time: what one has done is not overdue any more when the next one comes (O2).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/log.h"
#include "ports/clock.h"
#include "ports/store.h"
#include "server/group_commit.h"
#include "server/recovery/sweep_report.h"

namespace perdure {

enum class SweepByHand { report_only, carry_out };

class Sweeper {
public:
    static constexpr std::uint32_t batch_max = 1'000;

    Sweeper(Store& store, Clock& clock, GroupCommit& commits, Log log)
        : store_(store), clock_(clock), commits_(commits), log_(std::move(log)) {}

    // One sweep: all that is overdue now. Answers how many repairs it made.
    Task<std::size_t> sweep();
    // The same for a person who wants to see it: one batch, through the same decisions.
    Task<Result<SweepReport>> sweep_by_hand(SweepByHand how);
    // Passes an order back on to the worker: a hint, its next heartbeat's answer says the same.
    using Recall = std::function<void(SessionId session, AttemptKey attempt)>;
    void on_recalls(Recall recall) { recall_ = std::move(recall); }

private:
    void log_repairs(const Swept& swept) const;
    Task<Result<Swept>> carry_out(Sweep sweep);

    Store& store_;
    Clock& clock_;
    GroupCommit& commits_;
    Log log_;
    Recall recall_;
};

}  // namespace perdure
