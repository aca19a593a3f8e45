// From a decided end of an attempt to the change that carries it out: one way for sweep,
// reconcile and takeover.
#pragma once

#include <optional>

#include "core/recovery.h"
#include "ports/changes.h"
#include "ports/views.h"

namespace perdure {

// An end that nobody reported, with the rule of the job's author that judges it, if one does.
AttemptEnd judged(const RunView& run, const AttemptEnd& end);

// What the job does next after `run` has ended like this, which is judged(). The counts of earlier
// attempts are in the view; this end is added.
Next next_after(const RunView& run, const AttemptEnd& end);

Settle settle(const RunView& run, const AttemptEnd& end, std::optional<Settle::Renewal> renewal);

}  // namespace perdure
