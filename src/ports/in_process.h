// InProcessKind: a kind of job that the worker carries out itself, without a process or directory.
// Such an attempt dies with its worker; nothing of it is found by the next life.
#pragma once

#include <memory>

#include "base/result.h"
#include "core/explain/evidence.h"
#include "core/policy/cause.h"
#include "ports/task.h"
#include "wire/worker_protocol.h"

namespace perdure {

struct InProcessEnd {
    AttemptEnd end;
    EvidenceRef evidence;
};

// One attempt. Kept alive by the frame of run().
class InProcessWork {
public:
    virtual ~InProcessWork() = default;
    // Carries it out, within a bound of its own. Called once.
    virtual Task<InProcessEnd> run() = 0;
    // Nobody waits for its end any more: lets go of all that it holds outside. At any time.
    virtual void stop() = 0;
};

class InProcessKind {
public:
    virtual ~InProcessKind() = default;
    // invalid: what the job asks for cannot be understood. Nothing is done yet.
    virtual Result<std::shared_ptr<InProcessWork>> prepare(const Assignment& assignment) = 0;
};

}  // namespace perdure
