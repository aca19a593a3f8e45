// Story: one named history on the simulator, told step by step: who is cut off, which message is
// late, which server dies after which commit. No accident happens that the story does not name;
// every checker watches. tests/stories has them all.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/simulation.h"
#include "sim/world/tap.h"
#include "store/memory/memory_store.h"
#include "store/memory/memory_tables.h"

namespace perdure::sim {

struct ServerName {
    std::size_t i = 0;
};
struct WorkerName {
    std::size_t i = 0;
};
constexpr ServerName server(std::size_t i) { return {i}; }
constexpr WorkerName worker(std::size_t i) { return {i}; }

// The next message of a kind (tap.cpp has the names).
struct Pattern {
    Message::Leg leg = Message::Leg::request;
    std::string what;
};
Pattern message(std::string what);
Pattern answer_to(std::string what);
Pattern commit_of(std::string what);
Pattern reply_to_commit_of(std::string what);

// What is asked, and what its process will do.
struct Work {
    Effects effects = Effects::repeatable;
    Duration runs_for = seconds(1);
    Script::End end = Script::End::succeed;
    std::uint32_t bad_attempts = UINT32_MAX;  // after this many runs it succeeds
    bool ignores_sigterm = false;
    std::optional<Duration> checkpoint_at{};
    std::optional<Duration> begin_at{};
    std::optional<std::string> key{};
    std::vector<std::string> limits{};
    PolicyChoice policy{};
    std::optional<Duration> queue_timeout{};
    std::optional<Duration> total_timeout{};
    std::optional<Duration> hold{};
    std::optional<std::string> idempotency_key{};
    std::uint8_t priority = 5;
};

// Another seed draws other delays; every story holds for each of them.
inline std::uint64_t default_seed = 1;

class Story : private Tap {
public:
    struct Setting {
        std::uint32_t servers = 1;
        std::uint32_t workers = 1;
        std::uint32_t slots = 4;
        std::uint64_t seed = default_seed;
        Duration retention = Timing{}.retention;
        PolicyBook book{};
    };
    explicit Story(Setting setting);
    Story() : Story(Setting{}) {}
    ~Story() override;

    // What a client was answered: nothing yet, or that no answer came.
    template <class Reply>
    struct Asked {
        bool over = false;
        std::optional<Result<Reply>> answer{};
        bool said(Errc code) const { return answer && answer->is(code); }
        bool is_ok() const { return answer && answer->has_value(); }
    };
    using AskedSubmit = std::shared_ptr<Asked<Submitted>>;

    // Clients. Each waits for its answer, except send_submit().
    JobId submit(Work work);
    std::vector<JobId> submit_many(std::size_t count, Work work);
    AskedSubmit send_submit(Work work);
    AskedSubmit try_submit(Work work);
    Asked<Cancelled> cancel(JobId job);
    Asked<bool> deal_with(JobId job, QuarantineAction action, bool may_still_run = false);
    void hold_job(JobId job);
    void pause_queue(bool paused);
    void define_pool();  // the limit `pool` with `pool_max` slots

    // Time. The waits are complaints if they are in vain.
    void run_for(Duration length);
    void run_until(std::string what, const std::function<bool()>& condition,
                   Duration patience = minutes(10));
    void run_until_running(JobId job);  // there is a process, and the store knows it
    void run_until_started(JobId job, std::size_t runs = 1);  // that many processes have begun
    void run_until_state(JobId job, JobState state);
    void run_until_ended(JobId job);
    void run_until_kept();  // every message that has a fate has met it
    void run_until_seen(Pattern next);
    void run_until_session(WorkerName worker);

    // Machines.
    void kill(ServerName server);  // kill -9; stays down until start()
    void start(ServerName server);
    void pause(ServerName server);
    void resume(ServerName server);
    void step_wall_clock(ServerName server, Duration by);
    void kill(WorkerName worker);   // kill -9 of worker and watchdog; its shims stay
    void crash(WorkerName worker);  // kill -9 of the worker; its watchdog starts it again
    void crash_often(WorkerName worker, int times);  // each life lasts for 2 s
    void start(WorkerName worker);
    void detach(WorkerName worker);  // until it has left
    void pause(WorkerName worker);
    void resume(WorkerName worker);
    // It is heard, and starts nothing that it is given.
    void hang(WorkerName worker, Duration length);
    void pause_host(WorkerName worker);
    void resume_host(WorkerName worker);
    void reboot(WorkerName worker);
    void kill_shim_of(JobId job);
    void lose_directories(WorkerName worker);  // of all its attempts, with what runs in them
    // The second machine has a copy of the first one's disk; known by `as`.
    void copy_disk(WorkerName from, WorkerName to, StateDirectory as);

    // The network. Without a server: all of them.
    void cut(WorkerName worker);
    void cut_uplink(WorkerName worker);  // from the worker to the servers only
    void cut(ServerName server, WorkerName worker);
    void heal() { simulation_.network().heal_all(); }
    void heal(ServerName server, WorkerName worker);

    // Single messages.
    void lose(Pattern next) { add_rule(std::move(next), Fate::lose); }
    void keep(Pattern next) { add_rule(std::move(next), Fate::keep); }
    void copy(Pattern next) { add_rule(std::move(next), Fate::copy); }
    // It is lost, and the connection breaks: the outcome of a commit is unknown.
    void break_off(Pattern next) { add_rule(std::move(next), Fate::break_off); }
    // It is lost, and its sender (a worker) is cut off from then on.
    void cut_at(Pattern next) { add_rule(std::move(next), Fate::cut_sender); }
    // It is lost, and its server is killed.
    void crash_at(Pattern next) { add_rule(std::move(next), Fate::crash_server); }
    void deliver_kept();
    void break_kept();  // the connections of kept commits break; they may still happen
    std::size_t kept() const { return kept_.size(); }
    std::size_t sent(const std::string& what) const;
    // What somebody might still say, although no worker of ours would.
    ItemAnswer report_as(SessionId session, AttemptKey attempt, AttemptEnd end);

    // The store.
    void store_down(Duration length) { simulation_.database().go_down(length); }
    std::shared_ptr<const store::memory::Rows> snapshot() const { return store_->snapshot(); }
    // Only what nobody was told of is lost. Every connection breaks.
    void lose_unacknowledged(const store::memory::Rows& to);
    // What was acknowledged is lost: from now on nothing is checked.
    void lose_commits(const store::memory::Rows& to);

    // What is known, by the store and by the witness.
    JobView view(JobId job);  // an empty one if there is no such job
    JobState state(JobId job) { return view(job).state; }
    AttemptView attempt(JobId job, std::size_t i = 0);  // an empty one if there is none
    AttemptEnd end_of(JobId job, std::size_t i = 0) {
        return attempt(job, i).end.value_or(AttemptEnd{});
    }
    AttemptEnd late_result_of(JobId job) { return attempt(job).late_result.value_or(AttemptEnd{}); }
    std::uint32_t epoch(JobId job) { return view(job).epoch.value; }
    std::optional<JobId> job_of(const std::string& idempotency_key);
    std::size_t runs(JobId job) { return simulation_.witness().of(job).size(); }
    WorkerName host_of(JobId job);               // where its first process began
    TrueTime began(JobId job, std::size_t run);  // never: the end of time
    TrueTime died(JobId job, std::size_t run);
    std::size_t alive(JobId job);
    std::size_t alive() { return simulation_.witness().alive().size(); }
    std::uint64_t fenced() { return simulation_.audit().fenced; }
    ServiceTick clock() { return simulation_.audit().clock; }
    TrueTime now() { return simulation_.world().now(); }
    bool is_ready(ServerName server);
    bool has_session(WorkerName worker);
    bool is_about_to_exec(JobId job);  // `started` is on disk, the process is not there yet
    ServerName server_of(WorkerName worker);
    std::optional<ServerName> keeper();
    std::size_t on_disk();  // attempts in all state directories
    std::size_t count(const std::vector<JobId>& jobs, JobState state);
    std::vector<std::string> fatal_reasons() { return simulation_.cluster().fatal_reasons(); }

    // Checks everything once more; what is wrong, if anything.
    std::optional<std::string> complaint();
    // How this came about.
    std::string replay();

private:
    enum class Fate { see, lose, keep, copy, break_off, cut_sender, crash_server };
    struct Rule {
        Pattern next;
        Fate fate = Fate::lose;
    };
    void add_rule(Pattern next, Fate fate);
    bool takes(const Message& message) override;
    void crash_server_of(const Message& message);
    JobSpec spec_of(const Work& work);
    std::string args_of(const Script& script);
    template <class Reply, class Handle>
    std::shared_ptr<Asked<Reply>> send(std::string what, Handle handle);
    template <class Reply>
    Asked<Reply> wait_for(std::shared_ptr<Asked<Reply>> asked);
    void cut_off(std::uint32_t node);
    Cluster& cluster() { return simulation_.cluster(); }

    MemoryStore* store_;
    Simulation simulation_;
    Life client_;
    std::vector<Script> scripts_;
    std::vector<Rule> rules_;
    std::vector<Message> kept_;
    std::vector<std::string> sent_;
    std::uint64_t next_key_ = 0;
    std::optional<std::string> complaint_;
};

}  // namespace perdure::sim
