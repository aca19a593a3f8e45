// Dispatcher: gives ready jobs to the sessions whose streams end here. It claims when somebody
// rings. All notifications may be lost [P7]: while there is work, the ticker rings in any case.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/id.h"
#include "base/log.h"
#include "ports/clock.h"
#include "ports/gate.h"
#include "server/group_commit.h"
#include "wire/worker_protocol.h"

namespace perdure {

// The server's end of one stream down to a worker.
class Outbox {
public:
    virtual ~Outbox() = default;
    virtual void send(StreamMessage message) = 0;
    virtual void close() = 0;
};

class Dispatcher {
public:
    // For one session in one transaction. A commit costs a sync however small it is: a worker with
    // thousands of slots is filled by a few of them.
    static constexpr std::uint32_t claim_max = 1'000;

    Dispatcher(Clock& clock, GroupCommit& commits, Log log);

    Task<void> run(Stop& stop);
    void attach(SessionId session, std::uint64_t stream, std::shared_ptr<Outbox> outbox);
    // The stream is over: nothing more is claimed for it.
    void detach(SessionId session, std::uint64_t stream);
    // A hint to the session's worker; heartbeats carry the same. False: its stream ends elsewhere.
    bool send(SessionId session, StreamMessage message);
    void close_all();
    Alarm& alarm() { return *alarm_; }

private:
    struct Attached {
        std::uint64_t stream = 0;
        std::shared_ptr<Outbox> outbox;
    };
    Task<bool> claim_for_all();

    GroupCommit& commits_;
    Log log_;
    std::unique_ptr<Alarm> alarm_;
    std::map<SessionId, Attached> attached_;
    std::uint64_t turn_ = 0;
};

}  // namespace perdure
