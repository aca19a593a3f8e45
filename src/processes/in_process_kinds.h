// InProcessKinds: job kinds that run inside the worker, without a shim or a directory; everything
// else goes to the Processes below.
//   perdure.noop   ends at once and has succeeded; for tests and benches
//   perdure.sleep  {"ms": N} in its args: the same, N milliseconds later
// and what is given as InProcessKind, by the name of its kind.
// Such attempts die with the worker: the next life does not list them, and the server settles them
// as never started or lost. The same rules hold as for others: decide_exec() before the start, run
// timeout, kills.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ownership/timing.h"
#include "ports/attempt_index.h"
#include "ports/clock.h"
#include "ports/in_process.h"
#include "ports/process.h"
#include "processes/event_queue.h"

namespace perdure {

class InProcessKinds final : public Processes {
public:
    using Others = std::map<std::string, InProcessKind*, std::less<>>;

    InProcessKinds(Processes& below, Clock& clock, Timing timing, Others others = {});
    ~InProcessKinds() override;

    Task<Result<WorkerLife>> open() override;
    Task<Result<std::uint64_t>> next_life() override { return below_.next_life(); }
    Task<Result<void>> prepare(Assignment assignment) override;
    std::optional<Result<void>> prepare_at_once(const Assignment& assignment) override;
    void start(AttemptKey attempt, StartOrder order) override;
    void renew(AttemptKey attempt, BootTime lease_until) override;
    void kill(AttemptKey attempt, Cause cause) override;
    Task<std::vector<ProcessEvent>> next_events() override;
    void deliver(AttemptKey attempt, ProcessAnswer answer) override;
    Task<Result<std::string>> output(AttemptKey attempt, std::uint64_t offset,
                                     std::size_t max) override;
    void forget(AttemptKey attempt) override;
    void stopped_cleanly() override { below_.stopped_cleanly(); }

private:
    // One attempt of ours. Shared with the coroutines that sleep or work for it.
    struct Inside {
        Terms terms;
        Duration length;
        Duration run_timeout;
        bool ended = false;
        std::unique_ptr<Alarm> alarm;         // while it sleeps or works
        std::shared_ptr<InProcessWork> work;  // of another kind
    };
    using Queue = std::shared_ptr<EventQueue>;

    static Task<void> pass_on(Processes* below, Queue events);
    static Task<void> sleep_until_its_end(AttemptKey attempt, std::shared_ptr<Inside> inside,
                                          Queue events);
    static Task<void> work_until_its_end(AttemptKey attempt, std::shared_ptr<Inside> inside,
                                         Queue events);
    static Task<void> stop_in_time(AttemptKey attempt, std::shared_ptr<Inside> inside,
                                   Queue events);
    static void end(AttemptKey attempt, Inside& inside, AttemptEnd how, EventQueue& events,
                    EvidenceRef evidence = nullptr);
    Result<void> prepare_work(InProcessKind& kind, const Assignment& assignment);
    Inside& enter(const Assignment& assignment);
    void begin(AttemptKey attempt, const std::shared_ptr<Inside>& inside);
    Inside* find(AttemptKey attempt);

    Processes& below_;
    Clock& clock_;
    Timing timing_;
    Others others_;
    Queue events_;
    std::unordered_map<AttemptKey, std::shared_ptr<Inside>, HashOfJob> inside_;
};

}  // namespace perdure
