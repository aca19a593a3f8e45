// Watch: what a worker does by the clock, without any server. At least once a second it tells its
// shims that it lives; it kills what is past its lease (O7), lets expired goes be asked again (O4)
// and gives up checkpoints that nobody commits (O10).
#pragma once

#include "base/time.h"
#include "worker/attempt_table.h"
#include "worker/supervisor.h"
#include "worker/talk/worker_session.h"
#include "worker/worker_context.h"

namespace perdure {

class Watch {
public:
    Watch(WorkerContext& context, AttemptTable& table, Supervisor& supervisor);

    Task<void> run();
    // Right before anything is said to a server: the host may have slept past its leases, and
    // nothing that is overdue may be alive when it speaks (O7).
    void before_sending() { kill_overdue(When::before_sending); }
    // Every shim sees that the worker lives, and the lease that its own attempt is sure of.
    void notify_shims();

private:
    enum class When { any_time, before_sending };
    void kill_overdue(When when);
    void ring_for_expired_goes();
    Duration until_next() const;

    WorkerContext& context_;
    AttemptTable& table_;
    Supervisor& supervisor_;
};

}  // namespace perdure
