#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>

#include <boost/json/array.hpp>
#include <filesystem>

#include "drill/rows/all.h"
#include "drill/rows/play.h"
#include "drill/world/processes.h"

namespace perdure::drill {
namespace {

constexpr double outage_s = 60;

std::string ends_at_once() { return std::string(says_start) + says_end; }

// While there is no server, or it refuses.
Result<std::string> submit_until_taken(const Run& run) {
    const auto wanted = job_with(run, ends_at_once());
    std::string last;
    const auto attempt = [&]() -> std::optional<std::string> {
        auto id = run.site->api().submit(wanted);
        if (id) return *id;
        last = id.error().what;
        return std::nullopt;
    };
    auto id = until<std::string>(patience_s, "a job is taken", attempt);
    if (!id) return error(id.error().code, id.error().what + "; " + last);
    return id;
}

// A row that brings its own site plays on it like any other.
Run on(const Run& run, Site& site) { return {&site, run.folder, run.name, run.witness}; }

}  // namespace

Result<double> worker_is_killed(const Run& run) {
    auto site = Site::open({.folder = run.folder, .unharmed = true});
    if (!site) return site.error();
    const auto here = on(run, **site);
    const auto first = start_job(here, job_with(here, stays()));
    if (!first) return first.error();
    const auto before = here.site->api().job(first->job);
    if (!before) return before.error();
    const auto injected = now();
    ::kill(here.site->program().worker(), SIGKILL);
    const auto adopted = here.site->api().wait_until(
        first->job, patience_s, "the next worker adopts it",
        [&](const JobFacts& job) { return job.session != before->session; }, 0.01);
    const auto seen = now();
    if (!adopted) return adopted.error();
    run.witness.open_gate();
    const auto job = check_end(here, first->job, {.causes = {"exit"}, .starts = 1});
    if (!job) return job.error();
    if (auto off = here.site->see_neighbours_off(); !off) return off.error();
    return seconds_between(injected, seen);
}

// The site of this lane has a great many jobs waiting. One of ours runs all the while, another one
// is submitted as soon as the server is gone.
Result<double> server_is_killed(const Run& run) {
    const auto first = start_job(run, job_with(run, stays()));
    if (!first) return first.error();
    const auto injected = now();
    ::kill(run.site->program().server(), SIGKILL);
    const auto next = submit_until_taken(run);
    if (!next) return next.error();
    const auto started = run.witness.wait_for_start(*next, 1, patience_s);
    if (!started) return started.error();
    run.witness.open_gate();
    for (const auto& id : {first->job, *next})
        if (auto job = check_end(run, id, {.causes = {"exit"}, .starts = 1}); !job)
            return job.error();
    return seconds_between(injected, started->at);
}

// A power cut: server, worker, watchdog, shims and jobs at once; then the power is back.
Result<double> everything_is_killed(const Run& run) {
    auto site = Site::open({.folder = run.folder, .unharmed = false});
    if (!site) return site.error();
    const auto here = on(run, **site);
    const auto first = start_job(here, job_with(here, stays_at_first()));
    if (!first) return first.error();
    here.site->program().kill_everything();
    const auto again_at = now();
    if (auto again = here.site->start_program(); !again) return again.error();
    const auto second = run.witness.wait_for_start(first->job, 2, patience_s);
    if (!second) return second.error();
    const auto job = check_end(here, first->job, {.causes = {"shim_lost", "exit"}, .starts = 2});
    if (!job) return job.error();
    if (auto off = here.site->see_neighbours_off(); !off) return off.error();
    return without_wait(again_at, job->attempts.front().ended_at, second->at, crash_wait_s);
}

namespace {

// One that goes on, one `once`, one with a key, and one that waits.
struct Kinds {
    Started fenced, once, keyed;
    std::string waiting;
};

Result<Kinds> one_of_each(const Run& run) {
    Kinds kinds;
    auto wanted = job_with(run, stays());
    auto fenced = start_job(run, wanted);
    if (!fenced) return fenced.error();
    wanted["effects"] = "once";
    auto once = start_job(run, wanted);
    if (!once) return once.error();
    auto with_key = job_with(run, stays_at_first());
    with_key["key"] = run.name;
    auto keyed = start_job(run, with_key);
    if (!keyed) return keyed.error();
    with_key["argv"] = boost::json::array{"sh", "-c", ends_at_once()};
    with_key["key"] = run.name;
    auto waiting = run.site->api().submit(with_key);
    if (!waiting) return waiting.error();
    return Kinds{*fenced, *once, *keyed, *waiting};
}

Result<void> check_outage(const Run& run, const Kinds& kinds) {
    run.witness.open_gate();
    for (const auto& id : {kinds.fenced.job, kinds.once.job})
        if (auto job = check_end(run, id, {.causes = {"exit"}, .starts = 1}); !job)
            return job.error();
    auto keyed = check_end(run, kinds.keyed.job, {.causes = {"cut_off", "exit"}, .starts = 2});
    if (!keyed) return keyed.error();
    if (auto job = check_end(run, kinds.waiting, {.starts = 1}); !job) return job.error();
    return {};
}

}  // namespace

Result<double> servers_are_down(const Run& run) {
    // An outage must not be outlived by a short hold: here it is what it is by default.
    const std::vector<std::string> as_by_default = {"timing.hold=5m"};
    auto site = Site::open({.folder = run.folder,
                            .is_fleet = true,
                            .neighbours = 10,
                            .unharmed = true,
                            .settings = as_by_default});
    if (!site) return site.error();
    const auto here = on(run, **site);
    auto worker = here.site->start_worker({.name = run.name, .queue = run.name, .slots = 8});
    if (!worker) return worker.error();
    const auto kinds = one_of_each(here);
    if (!kinds) return kinds.error();
    here.site->program().kill_everything();
    if (!pause_for(outage_s)) return error(Errc::unavailable, "stopped by Ctrl-C");
    const auto again_at = now();
    if (auto again = here.site->start_program(); !again) return again.error();
    const auto next = here.site->api().submit(job_with(here, ends_at_once()));
    if (!next) return next.error();
    const auto started = run.witness.wait_for_start(*next, 1, patience_s);
    if (!started) return started.error();
    if (auto checked = check_outage(here, *kinds); !checked) return checked.error();
    if (auto off = here.site->see_neighbours_off(); !off) return off.error();
    return seconds_between(again_at, started->at);
}

namespace {

// A small file system of its own, in memory. Destroyed, it is gone.
class SmallDisk {
public:
    static Result<std::unique_ptr<SmallDisk>> mount_at(const std::string& path) {
        std::error_code ignored;
        std::filesystem::create_directories(path, ignored);
        if (::mount("perdure-drill", path.c_str(), "tmpfs", 0, "size=128m,mode=0700") != 0)
            return error(Errc::invalid, fmt::format("a small disk cannot be mounted ({}): run the "
                                                    "drill as root, or leave this row out",
                                                    ::strerror(errno)));
        return std::unique_ptr<SmallDisk>(new SmallDisk(path));
    }
    ~SmallDisk() { ::umount2(path_.c_str(), MNT_DETACH); }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

    // Closed on exec: a program that another lane starts just now must not keep the space.
    void fill() const {
        const auto path = path_ + "/fill";
        const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        const std::string block(std::size_t{64} << 10, 'x');
        while (file && write_all(file.get(), block) == 0) {
        }
    }
    void make_room() const {
        std::error_code ignored;
        std::filesystem::remove(path_ + "/fill", ignored);
    }

private:
    explicit SmallDisk(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

// Submits until one is refused; what was accepted counts.
Result<std::vector<std::string>> submit_until_refused(const Run& run) {
    std::vector<std::string> accepted;
    auto wanted = job_with(run, ends_at_once());
    wanted["args"] = std::string(std::size_t{32} << 10, 'x');
    const Stopwatch watch;
    while (watch.seconds() < patience_s) {
        const Stopwatch one;
        auto id = run.site->api().submit(wanted);
        if (one.seconds() > 5) return wrong("a submit was not answered within 5 s");
        if (!id) return accepted;
        accepted.push_back(*id);
    }
    return wrong("nothing was refused although the disk is full");
}

}  // namespace

Result<double> disk_is_full(const Run& run) {
    auto disk = SmallDisk::mount_at(run.folder + "/data");
    if (!disk) return disk.error();
    auto site = Site::open({.folder = run.folder, .neighbours = 0, .unharmed = false});
    if (!site) return site.error();
    const auto here = on(run, **site);
    const auto before = start_job(here, job_with(here, stays()));
    if (!before) return before.error();
    (*disk)->fill();
    auto accepted = submit_until_refused(here);
    if (!accepted) return accepted.error();
    (*disk)->make_room();
    const auto room_at = now();
    const auto next = submit_until_taken(here);
    if (!next) return next.error();
    const auto started = run.witness.wait_for_start(*next, 1, patience_s);
    if (!started) return started.error();
    run.witness.open_gate();
    accepted->push_back(before->job);
    for (const auto& id : *accepted)
        if (auto job = check_end(here, id, {.causes = {"exit"}, .starts = 1}); !job)
            return job.error();
    return seconds_between(room_at, started->at);
}

}  // namespace perdure::drill
