#include "sim/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace perdure::sim {
namespace {

constexpr std::size_t events_kept = 2'000;
constexpr std::size_t lines_shown = 80;
constexpr TrueTime never{INT64_MAX};

Plan plan_of(const Story::Setting& setting) {
    Plan plan{.seed = setting.seed};
    plan.servers = setting.servers;
    plan.workers = setting.workers;
    plan.clients = 1;
    plan.slots = setting.slots;
    plan.book = setting.book;
    plan.timing.retention = setting.retention;
    return plan;
}

std::unique_ptr<MemoryStore> make_store(const Story::Setting& setting, MemoryStore*& kept) {
    auto store = std::make_unique<MemoryStore>(plan_of(setting).timing);
    kept = store.get();
    return store;
}

template <class Reply>
Task<void> call_and_note(SimNetwork& network, SimNetwork::Call<Answered<Reply>> call,
                         std::shared_ptr<Story::Asked<Reply>> asked) {
    auto answered = co_await network.call<Answered<Reply>>(std::move(call));
    asked->over = true;
    if (answered) asked->answer = std::move(answered->reply);
}

}  // namespace

Pattern message(std::string what) { return {Message::Leg::request, what + " "}; }
Pattern answer_to(std::string what) { return {Message::Leg::answer, what + " "}; }
Pattern commit_of(std::string what) { return {Message::Leg::commit, what + " "}; }
Pattern reply_to_commit_of(std::string what) { return {Message::Leg::committed, what + " "}; }

Story::Story(Setting setting)
    : simulation_(plan_of(setting), make_store(setting, store_), events_kept),
      client_(simulation_.world().new_life()) {
    simulation_.network().set_tap(this);
    simulation_.database().set_tap(this);
}

Story::~Story() {
    simulation_.network().set_tap(nullptr);
    simulation_.database().set_tap(nullptr);
}

// Same work, same arguments: otherwise a repeated submit would have another body.
std::string Story::args_of(const Script& script) {
    const auto known = std::find(scripts_.begin(), scripts_.end(), script);
    if (known != scripts_.end()) return std::to_string(known - scripts_.begin());
    scripts_.push_back(script);
    return simulation_.scripts().add(script);
}

JobSpec Story::spec_of(const Work& work) {
    JobSpec spec{.kind = "work"};
    spec.args = args_of({.length = work.runs_for,
                         .end = work.end,
                         .bad_attempts = work.bad_attempts,
                         .ignores_sigterm = work.ignores_sigterm,
                         .checkpoint_at = work.checkpoint_at,
                         .begin_at = work.begin_at});
    spec.priority = work.priority;
    spec.effects = work.effects;
    spec.key = work.key;
    spec.limits = work.limits;
    spec.policy = work.policy;
    if (work.queue_timeout) spec.timeouts.queue = *work.queue_timeout;
    spec.timeouts.total = work.total_timeout;
    spec.hold = work.hold;
    spec.idempotency_key = work.idempotency_key;
    if (!spec.idempotency_key) spec.idempotency_key = fmt::format("submit-{}", ++next_key_);
    return spec;
}

// Asks the first server that is ready, or the last one; nobody repeats it.
template <class Reply, class Handle>
std::shared_ptr<Story::Asked<Reply>> Story::send(std::string what, Handle handle) {
    std::size_t to = 0;
    while (to + 1 < cluster().server_count() && !is_ready(server(to))) ++to;
    auto serve = [this, to, handle](std::function<void(Result<Answered<Reply>>)> answer) {
        cluster().serve<Answered<Reply>>(to, std::move(answer), [handle](Server& target) {
            return wrap<Reply>(handle(target.jobs()));
        });
    };
    SimNetwork::Call<Answered<Reply>> call{.caller = client_,
                                           .from = cluster().client_node(0),
                                           .to = cluster().server(to).node,
                                           .timeout = client_timeout,
                                           .serve = serve,
                                           .once = true,
                                           .what = what + " "};
    auto asked = std::make_shared<Asked<Reply>>();
    simulation_.world().spawn(call_and_note<Reply>(simulation_.network(), std::move(call), asked));
    simulation_.world().run_ready();
    return asked;
}

template <class Reply>
Story::Asked<Reply> Story::wait_for(std::shared_ptr<Asked<Reply>> asked) {
    run_until("an answer", [asked] { return asked->over; });
    return *asked;
}

Story::AskedSubmit Story::send_submit(Work work) {
    auto spec = spec_of(work);
    auto& history = simulation_.history().submits[{spec.tenant, *spec.idempotency_key}];
    history.spec = spec;
    ++history.sent;
    return send<Submitted>("submit", [spec](JobService& jobs) { return jobs.submit(spec); });
}

Story::AskedSubmit Story::try_submit(Work work) {
    if (!work.idempotency_key) work.idempotency_key = fmt::format("submit-{}", ++next_key_);
    auto asked = send_submit(work);
    wait_for(asked);
    auto& history = simulation_.history().submits[{"default", *work.idempotency_key}];
    if (asked->is_ok()) history.accepted.insert(asked->answer->value().id);
    if (asked->answer && !asked->is_ok() && !asked->said(Errc::outcome_unknown)) ++history.refused;
    return asked;
}

JobId Story::submit(Work work) {
    if (!work.idempotency_key) work.idempotency_key = fmt::format("submit-{}", ++next_key_);
    auto asked = try_submit(work);
    // Servers that have just started are not open yet.
    for (int i = 0; i < 100 && !asked->is_ok(); ++i) {
        run_for(milliseconds(20));
        asked = try_submit(work);
    }
    if (asked->is_ok()) return asked->answer->value().id;
    complaint_ = "a submit was refused: " + (asked->answer ? asked->answer->error().what : "");
    return {};
}

std::vector<JobId> Story::submit_many(std::size_t count, Work work) {
    std::vector<JobId> jobs;
    for (std::size_t i = 0; i < count; ++i) jobs.push_back(submit(work));
    return jobs;
}

Story::Asked<Cancelled> Story::cancel(JobId job) {
    const auto before = view(job);
    auto asked = wait_for(
        send<Cancelled>("cancel", [job](JobService& jobs) { return jobs.cancel(Cancel{job}); }));
    using Kind = CancelDecision::Kind;
    if (asked.is_ok() && asked.answer->value().kind != Kind::already_ended)
        simulation_.history().cancels[job] = {view(job).epoch, before.generation};
    return asked;
}

Story::Asked<bool> Story::deal_with(JobId job, QuarantineAction action, bool may_still_run) {
    if (action == QuarantineAction::release) ++simulation_.history().releases[job];
    if (may_still_run) simulation_.history().flagged_releases.insert(job);
    const DealWithQuarantined act{job, action, may_still_run};
    return wait_for(send<bool>("quarantine", [act](JobService& jobs) {
        return as_bool(jobs.deal_with_quarantined(act));
    }));
}

void Story::hold_job(JobId job) {
    wait_for(send<bool>("hold", [job](JobService& jobs) { return as_bool(jobs.hold(Hold{job})); }));
}

void Story::pause_queue(bool paused) {
    const PauseQueue pause{.tenant = "default", .queue = "default", .paused = paused};
    auto& wanted = simulation_.history().paused[{pause.tenant, pause.queue}];
    const auto number = wanted.ask(paused);
    const auto asked = wait_for(
        send<bool>("pause", [pause](JobService& jobs) { return as_bool(jobs.pause(pause)); }));
    if (asked.is_ok()) wanted.acknowledge(number);
}

void Story::define_pool() {
    run_until("a server", [this] { return is_ready(server(0)); });
    const DefineLimit pool{.tenant = "default", .name = "pool", .max = pool_max};
    auto& wanted = simulation_.history().limits[{Permit::Kind::limit, pool.tenant, pool.name}];
    const auto number = wanted.ask(pool.max);
    const auto asked = wait_for(send<bool>(
        "define", [pool](JobService& jobs) { return as_bool(jobs.define_limit(pool)); }));
    if (asked.is_ok()) wanted.acknowledge(number);
}

void Story::run_for(Duration length) { simulation_.run_for(length); }

void Story::run_until(std::string what, const std::function<bool()>& condition, Duration patience) {
    const auto until = now() + patience;
    while (!condition() && !simulation_.checker().violation()) {
        if (now() >= until) {
            if (!complaint_) complaint_ = "waited in vain for " + what;
            return;
        }
        run_for(microseconds(200));
    }
}

void Story::run_until_running(JobId job) {
    run_until("a running job", [&] { return alive(job) > 0 && state(job) == JobState::running; });
}

void Story::run_until_started(JobId job, std::size_t count) {
    run_until(fmt::format("start {}", count), [&] { return runs(job) >= count; });
}

void Story::run_until_state(JobId job, JobState wanted) {
    run_until(std::string(to_string(wanted)), [&] { return state(job) == wanted; });
}

void Story::run_until_ended(JobId job) {
    run_until("the end of a job", [&] { return has_ended(state(job)); });
}

void Story::run_until_kept() {
    run_until("a message", [this] { return rules_.empty(); });
}

void Story::run_until_seen(Pattern next) {
    add_rule(std::move(next), Fate::see);
    run_until_kept();
}

void Story::run_until_session(WorkerName worker) {
    run_until("a session", [&] { return has_session(worker); });
}

bool Story::is_ready(ServerName server) {
    const auto& node = cluster().server(server.i);
    return node.server && node.server->ready();
}

bool Story::has_session(WorkerName worker) {
    const auto& node = cluster().worker(worker.i);
    return node.worker && node.worker->session().is_open();
}

ServerName Story::server_of(WorkerName worker) {
    return {cluster().worker(worker.i).worker->session().server()};
}

JobView Story::view(JobId job) {
    const auto found = *simulation_.run_now(store_->jobs({job}));
    return found.empty() ? JobView{} : found.front();
}

AttemptView Story::attempt(JobId job, std::size_t i) {
    const auto attempts = view(job).attempts;
    return i < attempts.size() ? attempts[i] : AttemptView{};
}

WorkerName Story::host_of(JobId job) {
    const auto runs = simulation_.witness().of(job);
    return {runs.empty() ? 0 : runs.front()->host};
}

TrueTime Story::began(JobId job, std::size_t run) {
    const auto runs = simulation_.witness().of(job);
    return run < runs.size() ? runs[run]->began : never;
}

TrueTime Story::died(JobId job, std::size_t run) {
    const auto runs = simulation_.witness().of(job);
    return run < runs.size() ? runs[run]->died.value_or(never) : never;
}

std::size_t Story::alive(JobId job) {
    const auto runs = simulation_.witness().of(job);
    return static_cast<std::size_t>(
        std::count_if(runs.begin(), runs.end(), [](const auto* run) { return !run->died; }));
}

std::optional<ServerName> Story::keeper() {
    for (std::size_t i = 0; i < cluster().server_count(); ++i) {
        const auto& node = cluster().server(i);
        if (node.server && node.server->is_keeper()) return ServerName{i};
    }
    return std::nullopt;
}

std::size_t Story::on_disk() {
    std::size_t count = 0;
    for (std::size_t i = 0; i < cluster().worker_count(); ++i)
        count += cluster().worker(i).host->disk().size();
    return count;
}

std::size_t Story::count(const std::vector<JobId>& jobs, JobState wanted) {
    return static_cast<std::size_t>(
        std::count_if(jobs.begin(), jobs.end(), [&](JobId job) { return state(job) == wanted; }));
}

std::optional<JobId> Story::job_of(const std::string& idempotency_key) {
    return *simulation_.run_now(store_->job_of_key("default", idempotency_key));
}

std::optional<std::string> Story::complaint() {
    if (!simulation_.checker().violation()) simulation_.check_all();
    if (const auto& broken = simulation_.checker().violation())
        return fmt::format("broken promise {}: {}", broken->promise, broken->what);
    return complaint_;
}

std::string Story::replay() {
    const auto& lines = simulation_.world().trace_lines();
    std::string text = fmt::format("seed {}, its last events:\n", simulation_.plan().seed);
    const auto first = lines.size() > lines_shown ? lines.size() - lines_shown : 0;
    for (auto i = first; i < lines.size(); ++i) text += "  " + lines[i] + "\n";
    return text;
}

}  // namespace perdure::sim
