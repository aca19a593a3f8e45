#include <sys/stat.h>

#include "base/fault.h"
#include "core/ownership/start.h"
#include "shim/clocks.h"
#include "shim/format/attempt_files.h"
#include "shim/launch.h"
#include "shim/protocol.h"
#include "shim/shim.h"

namespace perdure {

ExecFacts Shim::exec_facts(bool already_started) const {
    return {.terms = order_.terms,
            .now = shim_boot_now(),
            .go_until = go_until_,
            .lease_until = lease_until_,
            .already_started = already_started,
            .kill_ordered = killing_.has_value()};
}

void Shim::try_exec() {
    struct stat about {};
    const bool already_started =
        ::fstatat(directory_.get(), attempt_files::started, &about, AT_SYMLINK_NOFOLLOW) == 0;
    const auto decision = decide_exec(exec_facts(already_started), order_.timing);
    if (decision.answer == ExecAnswer::not_yet) return;
    if (decision.answer == ExecAnswer::never) {
        // `started` of somebody before us: nobody knows what became of it.
        const auto ran = already_started ? Ran::maybe : Ran::no;
        const auto cause = already_started ? Cause::shim_lost : Cause::cut_off;
        return finish({.cause = cause, .ran = ran}, std::string(decision.rule));
    }
    if (!write_started())
        return finish({.cause = Cause::no_resources, .ran = Ran::no},
                      "the attempt's directory cannot be written");
    die_if(Fault::shim_after_started);
    exec();
}

// O4: `started` is durable before exec, for attempts that ask. One that starts at once
// (repeatable, fenced) only needs it to survive the shim and the worker, which the page cache does.
// After a power loss its absence proves nothing, and nobody says so: the worker lists such an
// attempt of an earlier boot as started, and the server presumes the same of one that is not
// listed (decide_inherit).
// It is a second name of the order: that costs no new file, and fails if there is one already.
bool Shim::write_started() {
    using namespace attempt_files;
    const int directory = directory_.get();
    if (::linkat(directory, order, directory, started, 0) != 0) {
        if (errno == EEXIST) return false;
        // There are file systems without second names.
        const Fd file(::openat(directory, started, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        if (!file) return false;
    }
    if (!order_.terms.asks) return true;
    if (sync_file(directory, started) == 0 && ::fsync(directory) == 0) return true;
    ::unlinkat(directory, started, 0);
    return false;
}

// The attempt's directory is ours: what has that name there was made by us.
bool Shim::give_to_the_job(const char* name) {
    if (!order_.become) return true;
    return ::fchownat(directory_.get(), name, order_.become->uid, order_.become->gid,
                      AT_SYMLINK_NOFOLLOW) == 0;
}

// The job's folder, its socket and the pipe for its output. Answers the pipe's end for the job.
int Shim::open_job_side() {
    if (::mkdirat(directory_.get(), attempt_files::work, 0700) != 0 && errno != EEXIST) return -1;
    if (job_socket_.open(attempt_files::job_socket) != 0) return -1;
    if (!give_to_the_job(attempt_files::work) || !give_to_the_job(attempt_files::job_socket))
        return -1;
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return -1;
    output_.reset(ends[0]);
    ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
    return ends[1];
}

// `started` is there. The machine may have slept since the check: look once more.
void Shim::exec() {
    const Fd job_output(open_job_side());
    if (!job_output)
        return finish({.cause = Cause::no_resources, .ran = Ran::no},
                      "the job's folder, socket or pipe cannot be made");
    const auto decision = decide_exec(exec_facts(false), order_.timing);
    if (decision.answer != ExecAnswer::exec)
        return finish({.cause = Cause::cut_off, .ran = Ran::no}, std::string(decision.rule));

    oom_kills_before_ = oom_kills();
    group_before_ = usage_of_cgroup(order_.cgroup);
    const auto own_folder = order_.directory + "/" + attempt_files::work;
    if (strikes(Fault::shim_exec_fails))
        return finish({.cause = Cause::no_resources, .ran = Ran::no},
                      "fault point shim.exec_fails");
    const auto launched = launch(order_, own_folder, job_output.get());
    if (launched.failure)
        return finish({.cause = launched.failure->cause, .ran = Ran::no},
                      launched.failure->sentence);
    leader_ = launched.pid;
    phase_ = Phase::running;
    started_at_ = active_at_ = shim_mono_now();
    arm_lease_timer();
    link_.send(talk::started);
    die_if(Fault::shim_dies_running);
}

}  // namespace perdure
