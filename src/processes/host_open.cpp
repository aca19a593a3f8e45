#include <boost/asio/steady_timer.hpp>

#include "base/fault.h"
#include "platform/files_mark.h"
#include "processes/accounts.h"
#include "processes/disk/posix.h"
#include "processes/disk/processes_without_shim.h"
#include "processes/disk/secrets.h"
#include "processes/host.h"
#include "processes/on_pool.h"
#include "shim/clocks.h"
#include "wire/relation_json.h"

namespace perdure {
namespace {

using Timer = boost::asio::steady_timer::rebind_executor<Executor>::other;

constexpr Duration lock_patience = milliseconds(500);  // O8
constexpr auto lock_pause = std::chrono::milliseconds(5);
const std::string no_program = "/fault/shim.not_launched";

Error has_closed() { return error(Errc::unavailable, "the worker has gone"); }

struct Opened {
    std::shared_ptr<StateFolder> folder;
    Life life;
    Found found;
    CgroupSlots slots;
    Controllers controllers;
    bool leftovers_are_gone = true;
};

// The slots in which adopted attempts run are theirs; what is in the others was left behind.
bool find_slots(Opened& opened, const std::string& cgroup) {
    const auto& identity = opened.folder->identity();
    const auto name = std::to_string(identity.device) + "-" + std::to_string(identity.inode);
    auto here = hierarchies_here();
    if (!cgroup.empty()) here.v2 = cgroup;
    opened.slots.detect(here, name);
    opened.controllers.detect(here, opened.slots.base(), name);
    std::set<std::string> alive;
    for (const auto& attempt : opened.found.attempts) {
        if (!attempt.on_disk.shim_alive || attempt.on_disk.result) continue;
        opened.slots.keep(attempt.cgroup);
        alive.insert(directory_name(attempt.on_disk.attempt));
    }
    const bool clear = opened.slots.clear_unused();
    opened.controllers.clear(alive);
    return clear;
}

// A job that could not even reach its own directory would never run.
Result<void> open_the_way(StateFolder& folder, const HostOptions& options) {
    if (!options.become && !options.as_submitter) return {};
    if (!folder.let_jobs_through()) return os_error("state directory", errno);
    if (options.as_submitter) return {};  // each has a way of their own
    return check_way(folder.attempts_path(), options.account);
}

// A group that a person has named is used, or the worker does not start: without it a restart would
// not find what runs in it.
Result<void> check_cgroup(const std::string& cgroup) {
    if (cgroup.empty()) return {};
    if (!file_exists(cgroup + "/cgroup.procs"))
        return error(Errc::invalid, "worker.cgroup: " + cgroup +
                                        " is no cgroup (v2); make it before the worker starts, or "
                                        "leave the setting out");
    if (::access(cgroup.c_str(), W_OK) != 0)
        return error(Errc::invalid, "worker.cgroup: this user may make no group in " + cgroup +
                                        "; fix: chown it to the worker's user");
    return {};
}

Result<Opened> open_state(const HostOptions& options) {
    if (auto usable = check_cgroup(options.cgroup); !usable) return usable.error();
    auto folder = StateFolder::open(options.directory);
    if (!folder) return folder.error();
    if (auto open = open_the_way(**folder, options); !open) return open.error();
    auto life = (*folder)->begin_life(StateFolder::Begins::in_a_new_process);
    if (!life) return life.error();
    become_subreaper();
    Opened opened{.folder = *folder, .life = *life};
    opened.found = find_attempts(**folder);
    // A directory that is not understood: whoever is at work in it cannot be spoken to.
    for (const auto& name : opened.found.damaged) clear_shim(**folder, name);
    const bool slots_are_clear = !options.cgroups || find_slots(opened, options.cgroup);
    opened.leftovers_are_gone =
        slots_are_clear && kill_leftovers(**folder, [&](const std::string& name) {
            return !is_locked(**folder, name);
        });
    for (const auto& name : opened.found.damaged) (*folder)->move_aside(name);
    return opened;
}

// Empty if each job has its submitter's.
std::optional<std::uint32_t> uid_of_jobs(const HostOptions& options) {
    if (options.as_submitter) return std::nullopt;
    return options.become ? options.become->uid : ::geteuid();
}

// Drawn and counted here: the shim, which knows no counts, is told what happens to it.
std::vector<std::string> shim_faults() {
    std::vector<std::string> names;
    for (const auto& point : fault_points)
        if (point.fault > Fault::shim_not_launched && strikes(point.fault))
            names.emplace_back(point.name);
    return names;
}

struct Preparation {
    std::shared_ptr<StateFolder> folder;
    std::string program;  // the shim
    std::string secrets;  // folder
    std::shared_ptr<const JobSpec> job;
    Order order;
    AttemptInput input;
    Fd slots;
};

Result<ShimEnds> make_and_spawn(Preparation work) {
    auto& folder = *work.folder;
    auto& order = work.order;
    if (strikes(Fault::worker_no_directory))
        return error(Errc::overloaded, "fault point worker.no_directory");
    ShimGifts gifts{.slots = std::move(work.slots)};
    if (!order.secrets.empty()) {
        if (auto got = fetch_secrets(work.secrets, *work.job, order); !got) return got.error();
        auto memory = in_memory(secrets_text(order));
        if (!memory) return memory.error();
        gifts.secrets = std::move(*memory);
    }
    auto directory = make_attempt(folder, order, work.input);
    if (!directory) return directory.error();
    gifts.directory = std::move(*directory);
    die_if(Fault::worker_after_directory);
    const auto name = directory_name(order.attempt);
    const auto& really = strikes(Fault::shim_not_launched) ? no_program : work.program;
    auto shim = spawn_shim(folder, really, std::move(gifts), name);
    die_if(Fault::worker_after_spawn);
    if (!shim) remove_attempt(folder, order.attempt);
    return shim;
}

}  // namespace

Task<Result<WorkerLife>> Host::open(Self self) {
    auto work = [options = self->options_] { return open_state(options); };
    auto opened = co_await on_pool(self->pool_, self->executor_, std::move(work));
    if (!opened) co_return opened.error();
    if (self->closed_) co_return has_closed();
    self->folder_ = opened->folder;
    self->slots_ = std::move(opened->slots);
    self->controllers_ = std::move(opened->controllers);
    if (!opened->leftovers_are_gone)
        self->log_.write(Level::critical, "processes of dead shims cannot be killed");
    for (const auto& note : opened->folder->notes())
        self->log_.write(Level::warn, "the state directory was readable", "what", note);
    self->log_damaged(opened->found);
    self->take_over(opened->found);
    WorkerLife life{.directory = opened->folder->identity(),
                    .life = opened->life.number,
                    .history = opened->life.history,
                    .host = {.limits = self->enforceable(),
                             .uid = uid_of_jobs(self->options_),
                             .files = files_mark()}};
    for (auto& found : opened->found.attempts) life.found.push_back(std::move(found.on_disk));
    co_return life;
}

void Host::log_damaged(const Found& found) {
    for (const auto& name : found.damaged)
        log_.write(Level::error, "attempt's directory is damaged and was moved aside", "name",
                   name);
}

void Host::take_over(const Found& found) {
    for (const auto& attempt : found.attempts) {
        const auto key = attempt.on_disk.attempt;
        auto& entry = attempts_[key];
        entry.cgroup = attempt.cgroup;
        entry.limited = true;  // as far as we know
        entry.ended = attempt.on_disk.result.has_value() || !attempt.on_disk.shim_alive;
        if (entry.ended) continue;
        entry.link = std::make_shared<ShimLink>(executor_, folder_, key, *this);
        const auto link = entry.link;  // it may be gone at once
        link->connect();
    }
}

Task<Result<std::uint64_t>> Host::next_life(Self self) {
    auto work = [folder = self->folder_] {
        return folder->begin_life(StateFolder::Begins::in_the_same_process);
    };
    const auto life = co_await on_pool(self->pool_, self->executor_, std::move(work));
    if (!life) co_return life.error();
    co_return life->number;
}

Surroundings Host::surroundings() const {
    return {.attempts_path = folder_->attempts_path(),
            .mark = folder_->mark(),
            .boot = folder_->identity().boot,
            .host = options_.host,
            .path = options_.path,
            .servers = options_.servers,
            .env = options_.env,
            .account = options_.account,
            .become = options_.become,
            .life = folder_->life_number(),
            .timing = options_.timing};
}

// U3. Looking an account up may block.
Task<Result<Order>> Host::order_of(Self self, Assignment assignment) {
    auto around = self->surroundings();
    if (!self->options_.as_submitter) co_return order_for(assignment, around);
    auto work = [who = assignment.spec->submitted_by, path = around.attempts_path,
                 allows_root = self->options_.root_submitters] {
        auto account = find_submitter(who, allows_root);
        if (!account || !*account) return account;
        if (auto way = check_way(path, **account); !way)
            account = error(Errc::overloaded, way.error().what);
        return account;
    };
    auto account = co_await on_pool(self->pool_, self->executor_, std::move(work));
    if (!account) co_return account.error();
    if (*account) {
        around.become = (*account)->credentials;
        around.account = std::move(**account);
    }
    co_return order_for(assignment, around);
}

Task<Result<void>> Host::prepare(Self self, Assignment assignment) {
    const auto key = assignment.attempt;
    if (self->find(key)) co_return Result<void>{};  // it is there: adopt it (O8)
    self->attempts_[key].preparing = true;
    auto order = co_await order_of(self, assignment);
    if (self->closed_) co_return has_closed();
    if (!order) {
        self->attempts_.erase(key);
        co_return order.error();
    }
    const bool alone = co_await other_epochs_gone(self, key);
    if (self->closed_) co_return has_closed();
    if (!alone) {
        self->attempts_.erase(key);
        co_return error(Errc::conflict, "the job's lock is held by another attempt");
    }
    order->faults = shim_faults();
    order->cgroup = self->slots_.take();
    self->attempts_[key].cgroup = order->cgroup;
    if (auto limited = self->give_limits(assignment.spec->resources, *order); !limited) {
        self->free_slot(self->attempts_[key], key);
        self->attempts_.erase(key);
        co_return limited.error();
    }
    AttemptInput input{.checkpoint = std::move(assignment.checkpoint)};
    if (has_args(*assignment.spec)) input.args = assignment.spec->args;
    if (!assignment.inputs.empty()) {
        JsonWriter out(input.inputs);
        write_inputs(out, assignment.inputs);
    }
    Preparation preparation{.folder = self->folder_,
                            .program = self->options_.shim,
                            .secrets = self->options_.secrets,
                            .job = assignment.spec,
                            .order = std::move(*order),
                            .input = std::move(input),
                            .slots = self->slots_.copy_of_lock()};
    auto work = [preparation = std::move(preparation)]() mutable {
        return make_and_spawn(std::move(preparation));
    };
    auto shim = co_await on_pool(self->pool_, self->executor_, std::move(work));
    if (!shim) {
        if (auto* entry = self->find(key)) self->free_slot(*entry, key);
        self->attempts_.erase(key);
        co_return shim.error();
    }
    self->attach(key, std::move(*shim));
    co_return Result<void>{};
}

// A limit that was asked for is a promise: what cannot be held to it does not run here.
Result<void> Host::give_limits(const Resources& asked, Order& order) {
    const auto here = controllers_.enforceable();
    const auto decision = decide_resources(asked, here);
    if (!decision.run)
        return error(Errc::overloaded, "this worker cannot limit `" +
                                           std::string(decision.missing) +
                                           "`; what it can limit: " + to_text(here));
    auto limited = controllers_.limit(asked, order.cgroup, directory_name(order.attempt));
    if (!limited) return limited.error();
    order.joins = std::move(limited->joins);
    order.oom_counter = std::move(limited->oom_counter);
    attempts_[order.attempt].limited = asked != Resources{};
    return {};
}

void Host::free_slot(Entry& entry, AttemptKey key) {
    if (std::exchange(entry.limited, false))
        controllers_.release(entry.cgroup, directory_name(key));
    slots_.give_back(entry.cgroup);
}

void Host::attach(AttemptKey key, ShimEnds ends) {
    auto* entry = find(key);
    if (!entry) return;  // closed meanwhile: the shim notices, and the next worker finds it
    entry->preparing = false;
    entry->link = std::make_shared<ShimLink>(executor_, folder_, key, *this);
    entry->link->attach(std::move(ends));
    if (entry->forgotten) kill(key, Cause::cut_off);
}

bool Host::other_epoch_is_busy(AttemptKey key) const {
    const auto first = attempts_.lower_bound({key.job, {}});
    for (auto at = first; at != attempts_.end() && at->first.job == key.job; ++at) {
        const bool alive = at->second.preparing || (at->second.link && !at->second.ended);
        if (at->first.epoch != key.epoch && alive) return true;
    }
    return false;
}

void Host::kill_other_epochs(AttemptKey key) {
    std::vector<AttemptKey> others;
    const auto first = attempts_.lower_bound({key.job, {}});
    for (auto at = first; at != attempts_.end() && at->first.job == key.job; ++at)
        if (at->first.epoch < key.epoch) others.push_back(at->first);
    for (const auto other : others) kill(other, Cause::cut_off);
}

Task<bool> Host::other_epochs_gone(Self self, AttemptKey key) {
    if (strikes(Fault::worker_lock_held)) co_return false;
    if (!self->other_epoch_is_busy(key)) co_return true;
    self->kill_other_epochs(key);
    const auto give_up_at = shim_boot_now() + lock_patience;
    Timer pause(self->executor_);
    while (self->other_epoch_is_busy(key)) {
        if (shim_boot_now() >= give_up_at) co_return false;
        pause.expires_after(lock_pause);
        co_await pause.async_wait(use_task);
    }
    co_return true;
}

Task<Result<std::string>> Host::output(Self self, AttemptKey attempt, std::uint64_t offset,
                                       std::size_t max) {
    auto work = [folder = self->folder_, attempt, offset, max] {
        return read_output(*folder, attempt, offset, max);
    };
    co_return co_await on_pool(self->pool_, self->executor_, std::move(work));
}

}  // namespace perdure
