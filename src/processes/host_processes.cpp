#include "processes/host_processes.h"

#include <utility>

#include "processes/host.h"

namespace perdure {

HostProcesses::HostProcesses(Executor executor, HostOptions options, Log log)
    : host_(std::make_shared<Host>(executor, std::move(options), std::move(log))) {}

HostProcesses::~HostProcesses() { host_->close(); }

Task<Result<WorkerLife>> HostProcesses::open() { return Host::open(host_); }

Task<Result<std::uint64_t>> HostProcesses::next_life() { return Host::next_life(host_); }

Task<Result<void>> HostProcesses::prepare(Assignment assignment) {
    return Host::prepare(host_, std::move(assignment));
}

void HostProcesses::start(AttemptKey attempt, StartOrder order) { host_->start(attempt, order); }

void HostProcesses::renew(AttemptKey attempt, BootTime lease_until) {
    host_->renew(attempt, lease_until);
}

void HostProcesses::kill(AttemptKey attempt, Cause cause) { host_->kill(attempt, cause); }

Task<std::vector<ProcessEvent>> HostProcesses::next_events() {
    return EventQueue::next(host_->events());
}

void HostProcesses::deliver(AttemptKey attempt, ProcessAnswer answer) {
    if (answer.kind == ProcessEvent::Kind::call)
        host_->reply(attempt, answer.number, answer.reply);
    else
        host_->answer(attempt, answer.committed);
}

Task<Result<std::string>> HostProcesses::output(AttemptKey attempt, std::uint64_t offset,
                                                std::size_t max) {
    return Host::output(host_, attempt, offset, max);
}

void HostProcesses::forget(AttemptKey attempt) { host_->forget(attempt); }

Containment HostProcesses::containment() const { return host_->containment(); }

Enforceable HostProcesses::enforceable() const { return host_->enforceable(); }

std::string HostProcesses::containment_text() const {
    const std::string trees =
        host_->containment() == Containment::none
            ? "trees found by descent"
            : "trees in cgroups (" + std::string(to_string(containment())) + ")";
    return trees + ", limits: " + to_text(host_->enforceable());
}

void HostProcesses::stopped_cleanly() { host_->stopped_cleanly(); }

}  // namespace perdure
