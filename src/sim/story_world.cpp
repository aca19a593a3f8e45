// What a story can do to machines, messages and the store.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/story.h"

namespace perdure::sim {

void Story::kill(ServerName server) {
    cluster().server(server.i).stays_down = true;
    cluster().kill_server(server.i);
}

void Story::start(ServerName server) {
    cluster().server(server.i).stays_down = false;
    cluster().start_server(server.i);
}

void Story::pause(ServerName server) { simulation_.world().pause(cluster().server(server.i).life); }

void Story::resume(ServerName server) {
    simulation_.world().resume(cluster().server(server.i).life);
}

void Story::step_wall_clock(ServerName server, Duration by) {
    cluster().server(server.i).time.wall_us += by.us;
}

void Story::kill(WorkerName worker) {
    cluster().worker(worker.i).stays_down = true;
    cluster().kill_worker(worker.i, std::nullopt);
}

void Story::crash(WorkerName worker) { cluster().kill_worker(worker.i, milliseconds(200)); }

void Story::crash_often(WorkerName worker, int times) {
    for (int i = 0; i < times; ++i) {
        crash(worker);
        run_for(seconds(2));
    }
}

void Story::start(WorkerName worker) {
    cluster().worker(worker.i).stays_down = false;
    cluster().start_worker(worker.i);
}

void Story::detach(WorkerName worker) {
    auto& node = cluster().worker(worker.i);
    node.worker->detach();
    run_until("the end of a worker", [&] { return node.worker->finished(); });
    kill(worker);
}

void Story::pause(WorkerName worker) { cluster().pause_worker(worker.i); }
void Story::resume(WorkerName worker) { cluster().resume_worker(worker.i); }
void Story::hang(WorkerName worker, Duration length) {
    cluster().worker(worker.i).host->hang_until(now() + length);
}
void Story::pause_host(WorkerName worker) { cluster().pause_host(worker.i); }
void Story::resume_host(WorkerName worker) { cluster().resume_host(worker.i); }
void Story::reboot(WorkerName worker) { cluster().reboot_host(worker.i, seconds(1)); }

void Story::kill_shim_of(JobId job) {
    const auto& last = *simulation_.witness().of(job).back();
    cluster().worker(last.host).host->shim(last.attempt)->die();
}

bool Story::is_about_to_exec(JobId job) {
    for (std::size_t i = 0; i < cluster().worker_count(); ++i)
        for (const auto& [key, directory] : cluster().worker(i).host->disk())
            if (key.job == job && directory.started) return runs(job) == 0;
    return false;
}

void Story::copy_disk(WorkerName from, WorkerName to, StateDirectory as) {
    cluster().worker(to.i).host->copy_disk(*cluster().worker(from.i).host, std::move(as));
}

void Story::lose_directories(WorkerName worker) {
    cluster().worker(worker.i).host->lose_directories();
}

void Story::cut_off(std::uint32_t node) {
    for (std::size_t i = 0; i < cluster().server_count(); ++i) {
        simulation_.network().cut(cluster().server(i).node, Node{node});
        simulation_.network().cut(Node{node}, cluster().server(i).node);
    }
}

void Story::cut(WorkerName worker) { cut_off(cluster().worker(worker.i).node.value); }

void Story::cut_uplink(WorkerName worker) {
    for (std::size_t i = 0; i < cluster().server_count(); ++i)
        simulation_.network().cut(cluster().worker(worker.i).node, cluster().server(i).node);
}

void Story::cut(ServerName server, WorkerName worker) {
    const auto a = cluster().server(server.i).node;
    const auto b = cluster().worker(worker.i).node;
    simulation_.network().cut(a, b);
    simulation_.network().cut(b, a);
}

void Story::heal(ServerName server, WorkerName worker) {
    const auto a = cluster().server(server.i).node;
    const auto b = cluster().worker(worker.i).node;
    simulation_.network().heal(a, b);
    simulation_.network().heal(b, a);
}

void Story::add_rule(Pattern next, Fate fate) { rules_.push_back({std::move(next), fate}); }

bool Story::takes(const Message& message) {
    if (message.leg == Message::Leg::request) sent_.push_back(message.what);
    const auto rule = std::find_if(rules_.begin(), rules_.end(), [&](const Rule& candidate) {
        return candidate.next.leg == message.leg &&
               message.what.find(candidate.next.what) != std::string::npos;
    });
    if (rule == rules_.end()) return false;
    const auto fate = rule->fate;
    rules_.erase(rule);
    simulation_.world().trace("story: has taken " + message.what);
    if (fate == Fate::keep || fate == Fate::copy) kept_.push_back(message);
    if (fate == Fate::break_off) message.break_off();
    if (fate == Fate::cut_sender) cut_off(message.sender);
    if (fate == Fate::crash_server) crash_server_of(message);
    return fate != Fate::copy && fate != Fate::see;
}

// Not from inside: the process ends before anything else happens to it.
void Story::crash_server_of(const Message& message) {
    for (std::size_t i = 0; i < cluster().server_count(); ++i) {
        const auto& node = cluster().server(i);
        const bool to_store =
            message.leg == Message::Leg::commit || message.leg == Message::Leg::committed;
        const auto number = to_store ? node.life.value : node.node.value;
        if (number != message.sender) continue;
        simulation_.world().after(Duration{}, Life{}, [this, i] { kill(ServerName{i}); });
    }
}

void Story::deliver_kept() {
    for (auto& message : std::exchange(kept_, {})) {
        simulation_.world().trace("story: lets go on " + message.what);
        message.go_on();
    }
}

void Story::break_kept() {
    for (auto& message : kept_) {
        simulation_.world().trace("story: breaks the connection of " + message.what);
        if (message.break_off) message.break_off();
    }
}

std::size_t Story::sent(const std::string& what) const {
    return static_cast<std::size_t>(std::count_if(
        sent_.begin(), sent_.end(),
        [&](const std::string& names) { return names.find(what + " ") != std::string::npos; }));
}

ItemAnswer Story::report_as(SessionId session, AttemptKey attempt, AttemptEnd end) {
    ReportRequest request{.session = session};
    request.items.push_back({.attempt = attempt, .kind = ReportItem::Kind::ended, .end = end});
    std::optional<Result<ReportResponse>> answer;
    cluster().serve<ReportResponse>(
        0, [&answer](Result<ReportResponse> reply) { answer = std::move(reply); },
        [request](Server& target) { return target.sessions().report(request); });
    run_until("an answer", [&] { return answer.has_value(); });
    const bool answered = answer && answer->has_value();
    return answered ? answer->value().answers.front() : ItemAnswer::again;
}

void Story::lose_unacknowledged(const store::memory::Rows& to) {
    store_->roll_back(to);
    store_down(milliseconds(100));
}

void Story::lose_commits(const store::memory::Rows& to) {
    simulation_.stop_checking();
    lose_unacknowledged(to);
}

}  // namespace perdure::sim
