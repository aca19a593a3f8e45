#include "bench/instance.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include "bench/deadline.h"
#include "testbed/stopwatch.h"

namespace perdure::bench {
namespace {

constexpr double patience_with_start_s = 60;
constexpr double patience_with_jobs_s = 60;
constexpr double patience_with_stop_s = 30;
constexpr std::chrono::seconds patience_with_answers(60);
constexpr auto poll_interval = std::chrono::milliseconds(5);

std::string content_of(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

// What it says when it is ready, behind what earlier ones have said; 0: not yet.
std::uint16_t port_in(std::string_view log) {
    constexpr std::string_view words = "perdure is ready: http://127.0.0.1:";
    const auto at = log.rfind(words);
    if (at == std::string_view::npos) return 0;
    return static_cast<std::uint16_t>(std::atoi(log.data() + at + words.size()));
}

std::vector<pid_t> children_of(pid_t pid) {
    std::istringstream list(content_of(fmt::format("/proc/{0}/task/{0}/children", pid)));
    std::vector<pid_t> children;
    for (pid_t child = 0; list >> child;) children.push_back(child);
    return children;
}

double resident_mib(pid_t pid) {
    constexpr std::string_view name = "VmRSS:";
    const auto status = content_of(fmt::format("/proc/{}/status", pid));
    const auto at = status.find(name);
    return at == std::string::npos ? 0 : std::atof(status.c_str() + at + name.size()) / 1024;
}

bool is_role(pid_t pid, std::string_view role) {
    return content_of(fmt::format("/proc/{}/cmdline", pid)).find(role) != std::string::npos;
}

}  // namespace

const boost::json::value& member(const boost::json::value& object, std::string_view name) {
    static const boost::json::value nothing;
    const auto* members = object.if_object();
    const auto* found = members ? members->if_contains(name) : nullptr;
    return found ? *found : nothing;
}

Result<std::unique_ptr<Instance>> Instance::start(InstanceOptions options) {
    std::unique_ptr<Instance> instance(new Instance(std::move(options)));
    const auto& chosen = instance->options_;
    std::vector<std::string> words = {own_program(),           chosen.role, "--data",
                                      chosen.folder + "/data", "--listen",  "127.0.0.1:0",
                                      "--log-level",           "warn"};
    for (const auto& setting : chosen.settings) words.insert(words.end(), {"--set", setting});
    if (!chosen.preload.empty())
        words.insert(words.begin(), {"/usr/bin/env", "LD_PRELOAD=" + chosen.preload});
    if (chosen.role == "up") words.insert(words.end(), {"--slots", std::to_string(chosen.slots)});
    const auto log_before = content_of(instance->log()).size();
    auto child = Child::start(words, instance->log());
    if (!child) return child.error();
    instance->child_ = std::move(*child);
    if (auto ready = instance->wait_until_ready(log_before); !ready) return ready.error();
    return instance;
}

Result<void> Instance::wait_until_ready(std::size_t log_before) {
    const Stopwatch watch;
    while (watch.seconds() < patience_with_start_s && !child_->has_ended()) {
        const auto text = content_of(log()).substr(log_before);
        port_ = port_in(text);
        if (port_ != 0) break;
        std::this_thread::sleep_for(poll_interval);
    }
    if (port_ == 0)
        return error(Errc::unavailable, fmt::format("`perdure {}` did not become ready:\n{}",
                                                    options_.role, content_of(log())));
    auto caller = HttpCaller::connect(port_);
    if (!caller) return caller.error();
    caller->set_patience(patience_with_answers);
    caller_ = std::make_unique<HttpCaller>(std::move(*caller));
    return {};
}

Instance::~Instance() {
    if (!child_) return;
    child_->signal(SIGTERM);
    const Stopwatch watch;
    while (!child_->has_ended() && watch.seconds() < patience_with_stop_s)
        std::this_thread::sleep_for(poll_interval);
    if (!child_->has_ended()) kill();
}

void Instance::kill() {
    auto all = children_of(child_->pid());
    child_->signal(SIGKILL);
    for (const auto pid : all) ::kill(pid, SIGKILL);
    child_->wait();
}

Memory Instance::memory() const {
    Memory memory;
    for (const auto pid : children_of(child_->pid()))
        (is_role(pid, "child-worker") ? memory.worker : memory.server) = resident_mib(pid);
    return memory;
}

std::vector<pid_t> Instance::processes() const {
    auto all = children_of(child_->pid());
    all.push_back(child_->pid());
    return all;
}

std::vector<pid_t> Instance::server_process() const {
    auto all = children_of(child_->pid());
    std::erase_if(all, [](pid_t pid) { return is_role(pid, "child-worker"); });
    return all;
}

std::string Instance::containment() const {
    const auto text = content_of(log());
    constexpr std::string_view before = " slots; ";
    const auto found = text.rfind(before);
    if (found == std::string::npos) return "trees held together in an unknown way";
    const auto begin = found + before.size();
    return text.substr(begin, text.find('\n', begin) - begin);
}

Result<boost::json::value> Instance::call(std::string_view bytes) {
    const auto answer = caller_->call(bytes);
    if (!answer) return answer.error();
    if (answer->status >= 300)
        return error(Errc::unavailable,
                     fmt::format("the server answered {}: {}", answer->status, answer->body));
    boost::system::error_code failed;
    auto value = boost::json::parse(answer->body, failed);
    if (failed) return error(Errc::corrupt, "the server answered no JSON");
    return value;
}

Result<boost::json::value> Instance::get(std::string_view target) {
    return call(request_bytes("GET", target));
}

Result<boost::json::value> Instance::post(std::string_view target, std::string_view body) {
    return call(request_bytes("POST", target, body));
}

Result<boost::json::value> Instance::put(std::string_view target, std::string_view body) {
    return call(request_bytes("PUT", target, body));
}

Result<std::map<std::string, std::size_t>> Instance::counts(std::string_view queue) {
    const auto queues = get("/v1/queues");
    if (!queues) return queues.error();
    std::map<std::string, std::size_t> counts;
    const auto* list = member(*queues, "queues").if_array();
    for (std::size_t i = 0; list && i < list->size(); ++i) {
        const auto* name = member((*list)[i], "queue").if_string();
        const auto* jobs = member((*list)[i], "jobs").if_object();
        if (!name || std::string_view(*name) != queue || !jobs) continue;
        for (const auto& [state, count] : *jobs)
            if (count.is_int64()) counts[state] = static_cast<std::size_t>(count.get_int64());
    }
    return counts;
}

Result<void> Instance::wait_until_ended(std::string_view queue, std::size_t jobs) {
    const Stopwatch watch;
    Stopwatch since_last;
    std::size_t before = 0;
    for (;;) {
        auto now = counts(queue);
        if (!now) return now.error();
        const auto ended = (*now)["succeeded"];
        const auto others = (*now)["failed"] + (*now)["quarantined"] + (*now)["expired"];
        if (ended == jobs && others == 0) return {};
        if (ended != before) since_last = Stopwatch();
        before = ended;
        if (others > 0 || ended > jobs || since_last.seconds() > patience_with_jobs_s)
            return error(Errc::unavailable,
                         fmt::format("of {} jobs in {} only {} have succeeded, {} ended otherwise",
                                     jobs, queue, ended, others));
        const std::chrono::duration<double> pause(look_again_after_s(watch.seconds(), ended, jobs));
        std::this_thread::sleep_for(pause);
    }
}

Result<void> Instance::pause(std::string_view queue, bool paused) {
    auto done = post(fmt::format("/v1/queues/{}/{}", queue, paused ? "pause" : "resume"));
    if (!done) return done.error();
    return {};
}

}  // namespace perdure::bench
