#include "watchdog/watchdog.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "base/exit_code.h"
#include "core/worker/restart.h"
#include "platform/system_time.h"
#include "watchdog/child_process.h"
#include "watchdog/orphan_processes.h"

namespace perdure {
namespace {

// One child over all its lives.
struct SupervisedChild {
    WatchedChild what;
    ChildProcess process;              // pid 0: does not run
    std::string heard;                 // of a line that has not ended yet
    std::optional<BootTime> start_at;  // when to start it (again)
    std::optional<BootTime> ready_at;  // of this life
    std::optional<BootTime> died_at;   // of the last life, until the next one is ready
    std::optional<BootTime> kill_at;   // it was told to stop
    std::uint32_t short_lives = 0;
    bool alive = false;  // has said so since the last sign of life
    bool ever_ready = false;
    bool gone = false;  // for good

    bool runs() const { return process.pid != 0; }
};

std::string how_it_ended(int status) {
    if (WIFSIGNALED(status))
        return fmt::format("died by signal {} ({})", WTERMSIG(status),
                           ::strsignal(WTERMSIG(status)));
    return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

int block_signals() {
    sigset_t ours;
    sigemptyset(&ours);
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGCHLD}) sigaddset(&ours, number);
    ::sigprocmask(SIG_BLOCK, &ours, nullptr);
    return ::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
}

// Twice between two signs of life.
std::optional<Duration> alive_every_of(const WatchdogOptions& options) {
    if (const auto limit = options.manager.watchdog_limit()) return Duration{limit->us / 4};
    return std::nullopt;
}

class Watchdog {
public:
    explicit Watchdog(WatchdogOptions options) : options_(std::move(options)) {
        for (auto& child : options_.children) {
            children_.push_back({});
            children_.back().what = std::move(child);
        }
    }

    int run();

private:
    bool all_gone() const;
    void start_what_is_due(BootTime now);
    bool may_start(std::size_t index) const;
    void start(SupervisedChild& child, BootTime now);
    void kill_what_is_overdue(BootTime now);
    void wait_for_something(BootTime now);
    std::optional<BootTime> next_deadline() const;

    void handle_signals();
    void handle_signal(int number);
    void read_channel(std::size_t index);
    void handle_line(std::size_t index, const std::string& line);
    bool reap();
    void has_ended(SupervisedChild& child, int status);
    void clear_leftovers();

    void begin_to_stop();
    void give_sign_of_life(BootTime now);
    void stop_one_more(BootTime now);
    void order_to_stop(SupervisedChild& child, BootTime now);
    void stop_harder();

    WatchdogOptions options_;
    std::vector<SupervisedChild> children_;
    std::set<pid_t> spared_;  // children from before: those of whoever this process was
    int signals_ = -1;
    bool has_terminal_ = ::isatty(STDERR_FILENO) == 1;
    std::optional<BootTime> sign_due_at_;  // empty: nobody wants one
    std::uint32_t stop_signals_ = 0;
    bool sign_withheld_ = false;
    bool told_ready_ = false;
    bool stopping_ = false;
    bool detaching_ = false;
    bool strays_ = false;
    int exit_code_ = 0;
};

int Watchdog::run() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (const auto child : children_of_this_process()) spared_.insert(child);
    signals_ = block_signals();
    for (auto& child : children_) child.start_at = boot_now();
    if (options_.manager.watchdog_limit()) sign_due_at_ = boot_now();
    while (true) {
        const auto now = boot_now();
        if (stopping_) stop_one_more(now);
        if (all_gone()) break;
        start_what_is_due(now);
        kill_what_is_overdue(now);
        give_sign_of_life(now);
        wait_for_something(now);
    }
    clear_leftovers();
    ::close(signals_);
    return exit_code_;
}

bool Watchdog::all_gone() const {
    return std::all_of(children_.begin(), children_.end(),
                       [](const SupervisedChild& child) { return child.gone; });
}

bool Watchdog::may_start(std::size_t index) const {
    return std::all_of(
        children_.begin(), children_.begin() + static_cast<std::ptrdiff_t>(index),
        [](const SupervisedChild& earlier) { return earlier.ever_ready || earlier.gone; });
}

void Watchdog::start_what_is_due(BootTime now) {
    for (std::size_t i = 0; i < children_.size(); ++i) {
        auto& child = children_[i];
        if (!child.gone && child.start_at && *child.start_at <= now && may_start(i))
            start(child, now);
    }
}

void Watchdog::start(SupervisedChild& child, BootTime now) {
    child.start_at.reset();
    auto started = start_child(child.what.program, child.what.words(),
                               {.died_at = child.died_at, .alive_every = alive_every_of(options_)});
    if (!started) {
        options_.say(fmt::format("{} cannot be started: {}; trying again", child.what.name,
                                 started.error().what));
        child.start_at = now + seconds(1);
        return;
    }
    child.process = *started;
    child.heard.clear();
    child.alive = false;
    child.ready_at.reset();
    child.kill_at.reset();
}

void Watchdog::kill_what_is_overdue(BootTime now) {
    for (auto& child : children_) {
        if (!child.runs() || !child.kill_at || *child.kill_at > now) continue;
        options_.say(fmt::format("{} has not stopped in time; killing it", child.what.name));
        ::kill(child.process.pid, SIGKILL);
        child.kill_at = now + seconds(1);
        exit_code_ = std::max(exit_code_, static_cast<int>(ExitCode::failed));
    }
}

std::optional<BootTime> Watchdog::next_deadline() const {
    std::optional<BootTime> next;
    const auto consider = [&](std::optional<BootTime> at) {
        if (at && (!next || *at < *next)) next = at;
    };
    for (std::size_t i = 0; i < children_.size(); ++i) {
        if (may_start(i)) consider(children_[i].start_at);
        if (children_[i].runs()) consider(children_[i].kill_at);
    }
    if (strays_) consider(boot_now() + seconds(1));
    // Once it is due it waits for a child, not for a time.
    if (sign_due_at_ && !sign_withheld_) consider(sign_due_at_);
    return next;
}

void Watchdog::wait_for_something(BootTime now) {
    std::vector<pollfd> sources = {{signals_, POLLIN, 0}};
    for (const auto& child : children_) sources.push_back({child.process.channel, POLLIN, 0});
    int timeout_ms = -1;
    if (const auto next = next_deadline())
        timeout_ms =
            static_cast<int>(std::clamp<std::int64_t>((*next - now).us / 1000 + 1, 0, 60'000));
    ::poll(sources.data(), sources.size(), timeout_ms);
    // What a child has said counts before its end does.
    for (std::size_t i = 0; i < children_.size(); ++i)
        if (sources[i + 1].revents != 0) read_channel(i);
    handle_signals();
    if (strays_) clear_leftovers();
}

void Watchdog::read_channel(std::size_t index) {
    auto& child = children_[index];
    std::array<char, 512> bytes{};
    const auto count = ::read(child.process.channel, bytes.data(), bytes.size());
    if (count <= 0) {
        ::close(child.process.channel);
        child.process.channel = -1;
        return;
    }
    child.heard.append(bytes.data(), static_cast<std::size_t>(count));
    for (auto end = child.heard.find('\n'); end != std::string::npos;
         end = child.heard.find('\n')) {
        const auto line = child.heard.substr(0, end);
        child.heard.erase(0, end + 1);
        handle_line(index, line);
    }
    // Nothing that we say is so long: it is not one of ours, and is not kept.
    if (child.heard.size() > 4096) child.heard.clear();
}

void Watchdog::handle_line(std::size_t index, const std::string& line) {
    auto& child = children_[index];
    if (line == "alive") child.alive = true;
    constexpr std::string_view word = "ready";
    if (!line.starts_with(word) || child.ready_at) return;
    child.ready_at = boot_now();
    child.ever_ready = true;
    if (child.died_at) {
        options_.say(fmt::format("{} is back, {:.2f} s after it died", child.what.name,
                                 (*child.ready_at - *child.died_at).seconds()));
        child.died_at.reset();
    }
    const bool all_ready = std::ranges::all_of(children_, &SupervisedChild::ever_ready);
    if (all_ready && !std::exchange(told_ready_, true)) options_.manager.ready();
    if (options_.ready) options_.ready(index, line.substr(std::min(word.size() + 1, line.size())));
}

// One read for each turn: somebody who signals without end must not keep us from the rest.
void Watchdog::handle_signals() {
    std::array<signalfd_siginfo, 8> heard{};
    const auto size = ::read(signals_, heard.data(), sizeof heard);
    const auto count = size > 0 ? static_cast<std::size_t>(size) / sizeof heard[0] : 0;
    for (std::size_t i = 0; i < count; ++i) handle_signal(static_cast<int>(heard[i].ssi_signo));
    if (reap()) clear_leftovers();
}

void Watchdog::handle_signal(int number) {
    if (number == SIGCHLD) return;  // it has woken us; who has ended is looked up anyway
    // A terminal that was closed takes its programs with it; otherwise SIGHUP means: new log file.
    const bool hung_up = number == SIGHUP && has_terminal_ && ::isatty(STDERR_FILENO) != 1;
    if (number == SIGHUP && !hung_up) {
        for (const auto& child : children_)
            if (child.runs()) ::kill(child.process.pid, SIGHUP);
        return;
    }
    if (!stopping_) detaching_ = number == SIGUSR1;
    begin_to_stop();
    if (++stop_signals_ > 1) stop_harder();
}

bool Watchdog::reap() {
    int status = 0;
    bool any = false;
    for (auto pid = ::waitpid(-1, &status, WNOHANG); pid > 0;
         pid = ::waitpid(-1, &status, WNOHANG)) {
        any = true;
        spared_.erase(pid);
        for (std::size_t i = 0; i < children_.size(); ++i) {
            if (children_[i].process.pid != pid) continue;
            while (children_[i].process.channel >= 0) read_channel(i);  // its last words
            has_ended(children_[i], status);
        }
    }
    return any;
}

void Watchdog::has_ended(SupervisedChild& child, int status) {
    const auto now = boot_now();
    const bool by_signal = WIFSIGNALED(status);
    const auto decision =
        decide_child_end({.told_to_stop = child.kill_at.has_value(),
                          .by_signal = by_signal,
                          .exit_code = by_signal ? 0 : WEXITSTATUS(status),
                          .ever_ready = child.ever_ready,
                          .ready_for = child.ready_at ? now - *child.ready_at : Duration{},
                          .in_a_row = child.short_lives});
    child.process = {};
    child.kill_at.reset();
    using Kind = ChildEndDecision::Kind;
    if (decision.kind == Kind::again) {
        if (!child.died_at) child.died_at = now;
        child.start_at = now + decision.wait;
        child.short_lives = decision.short_life ? child.short_lives + 1 : 0;
        options_.say(
            fmt::format("{} {}; starting it again", child.what.name, how_it_ended(status)));
        return;
    }
    child.gone = true;
    if (decision.kind == Kind::left)
        options_.say(fmt::format("{} has left and is not started again", child.what.name));
    if (decision.kind == Kind::give_up) {
        exit_code_ = WEXITSTATUS(status);
        begin_to_stop();
    }
}

void Watchdog::clear_leftovers() {
    auto spared = spared_;
    for (const auto& child : children_) spared.insert(child.process.pid);
    const auto killed = kill_leftovers(spared, options_.shim_name);
    for (const auto& name : killed) options_.say("killed a leftover process: " + name);
    strays_ = !killed.empty();
}

void Watchdog::begin_to_stop() {
    if (!std::exchange(stopping_, true)) options_.manager.stopping();
}

// Twice as often as it must be, and at once when the last silent child has spoken.
void Watchdog::give_sign_of_life(BootTime now) {
    if (!sign_due_at_ || *sign_due_at_ > now) return;
    std::vector<ChildLoopFacts> facts;
    for (const auto& child : children_)
        facts.push_back({.ready = child.ready_at.has_value() && child.runs(),
                         .stopping = child.kill_at.has_value(),
                         .alive = child.alive});
    sign_withheld_ = !decide_sign_of_life(facts);
    if (sign_withheld_) return;
    options_.manager.alive();
    for (auto& child : children_) child.alive = false;
    sign_due_at_ = now + Duration{options_.manager.watchdog_limit()->us / 2};
}

// In reverse order, one after the other: the worker needs its server to hand back what it has.
void Watchdog::stop_one_more(BootTime now) {
    for (auto child = children_.rbegin(); child != children_.rend(); ++child) {
        if (child->gone) continue;
        if (!child->runs()) {
            // It waits to be started again. Nothing depends on it any more.
            child->gone = true;
            continue;
        }
        if (!child->kill_at) order_to_stop(*child, now);
        return;
    }
}

void Watchdog::order_to_stop(SupervisedChild& child, BootTime now) {
    ::kill(child.process.pid, detaching_ && child.what.detaches ? SIGUSR1 : SIGTERM);
    child.kill_at = now + child.what.stop_limit;
}

// The second signal: whoever is stopping hears it again and gets less time. The third: no time.
// More of them change nothing.
void Watchdog::stop_harder() {
    if (stop_signals_ > 3) return;
    const auto now = boot_now();
    const bool kill_now = stop_signals_ == 3;
    const auto limit = kill_now ? seconds(1) : options_.harder_limit;
    for (auto& child : children_) {
        if (!child.runs()) continue;
        ::kill(child.process.pid, kill_now ? SIGKILL : SIGTERM);
        child.kill_at = std::min(child.kill_at.value_or(now + limit), now + limit);
    }
}

}  // namespace

int run_watchdog(WatchdogOptions options) { return Watchdog(std::move(options)).run(); }

}  // namespace perdure
