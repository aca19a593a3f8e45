// SeenTicks: the service time that a server has seen in the store's replies, which of the ticks
// were its own, and what its next tick says.
//   T2  A tick adds no more than the real time since the tick that it rests on was sent, if that
//   was
//       this server's own, or else since it was first shown.
//   T4  The newest tick that no crash can take back is known apart from the newest that was seen.
//   C6  A store that is behind what it has shown before has lost commits. A reply that a later one
//       has overtaken says nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "core/ownership/service_time.h"
#include "core/ownership/timing.h"
#include "ports/changes.h"

namespace perdure {

// A tick of this server, and when the group that makes it was sent.
struct SentTick {
    ServiceTick clock;
    BootTime at;
};

class SeenTicks {
public:
    struct Newest {
        ServiceTick clock;
        BootTime at;                           // when it was first shown
        std::optional<BootTime> sent_at = {};  // if it is this server's own tick
        bool of_another = false;               // another server has made it meanwhile
    };

    explicit SeenTicks(const Timing& timing) : timing_(timing) {}

    // The store's first reply in this server's life.
    void open(const ServiceTick& clock, BootTime now);
    // What a reply shows at `now`, which was asked for at `asked_at`. False: the store is behind
    // what it has shown before.
    [[nodiscard]] bool saw(const ServiceTick& clock, BootTime asked_at, BootTime now);
    // This tick was sent by this server: it may be the newest that was seen.
    void note_own(const SentTick& sent);
    // The same, and its group was committed without a reply: it may be shown later.
    void note_own_unanswered(const SentTick& sent);
    void note_written(std::uint64_t tick, BootTime now);

    const Newest& newest() const { return newest_; }
    std::uint64_t written() const { return written_; }
    // The tick of a group that is sent now. `ahead`: the newest tick of this server's groups that
    // are not answered yet; it builds on that one.
    Tick next(BootTime now, const std::optional<SentTick>& ahead) const;

private:
    Timing timing_;
    Newest newest_;
    BootTime opened_at_;
    std::uint64_t written_ = 0;
    BootTime written_at_;                 // when a reply showed it
    std::optional<SentTick> unanswered_;  // the newest that was committed without a reply
};

}  // namespace perdure
