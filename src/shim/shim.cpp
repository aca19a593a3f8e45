#include "shim/shim.h"

#include <signal.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <array>

#include "shim/clocks.h"
#include "shim/protocol.h"

namespace perdure {
namespace {

constexpr Duration ask_patience = seconds(30);  // O10
constexpr Duration printed_pause = milliseconds(100);
// A shim that has started nothing and hears of no worker goes, and says that it did not run.
constexpr Duration unstarted_patience = minutes(2);
constexpr int reads_in_a_row = 16;
const std::string no_answer = "error not_committed no server has answered it";

Fd watch_children() {
    sigset_t children;
    ::sigemptyset(&children);
    ::sigaddset(&children, SIGCHLD);
    return Fd(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace

Shim::Shim(Fd directory, Fd worker, Order order)
    : directory_(std::move(directory)),
      order_(std::move(order)),
      link_(std::move(worker)),
      log_(directory_.get(), order_.output_max),
      signals_(watch_children()),
      worker_heard_at_(shim_boot_now()),
      alone_since_(shim_mono_now()) {}

int Shim::run() {
    while (phase_ != Phase::told) {
        act_on_time();
        if (phase_ != Phase::told) wait_and_serve();
    }
    return 0;
}

// --- the loop ----------------------------------------------------------------------------------

void Shim::act_on_time() {
    const auto now = shim_mono_now();
    link_.listen_if_alone();
    if (link_.connected()) alone_since_ = now;
    if (phase_ == Phase::waiting && now >= alone_since_ + unstarted_patience)
        finish({.cause = Cause::cut_off, .ran = Ran::no}, "its worker did not come back");
    if (phase_ == Phase::running && !leader_status_ && !killing_) {
        const auto& idle = order_.idle_timeout;
        if (now >= started_at_ + order_.run_timeout) kill(Cause::timeout_run);
        if (idle && now >= active_at_ + *idle) kill(Cause::timeout_idle);
    }
    if (phase_ == Phase::running) clear_tree();
    while (!asks_.empty() && now >= asks_.front().give_up_at) answer_ask(false);
    while (!calls_.empty() && now >= calls_.front().give_up_at) answer_call(no_answer);
    if (printed_unsent_ && now >= may_send_printed_at_) send_printed();
    if (progress_unsent_ && now >= may_send_progress_at_) send_progress();
    if (phase_ == Phase::ended && now >= write_again_at_) write_result();
}

int Shim::wait_ms() const {
    std::optional<MonoTime> next;
    const auto until = [&](MonoTime at) { next = next ? std::min(*next, at) : at; };
    const auto now = shim_mono_now();
    if (link_.deaf()) until(now + seconds(1));
    if (phase_ == Phase::waiting && !link_.connected()) until(alone_since_ + unstarted_patience);
    if (phase_ == Phase::running && !leader_status_ && !killing_) {
        until(started_at_ + order_.run_timeout);
        if (order_.idle_timeout) until(active_at_ + *order_.idle_timeout);
    }
    const bool sweeping = phase_ == Phase::running && (leader_status_ || killing_);
    if (sweeping) until(sweep_at_);
    if (!asks_.empty()) until(asks_.front().give_up_at);
    if (!calls_.empty()) until(calls_.front().give_up_at);
    if (printed_unsent_) until(may_send_printed_at_);
    if (progress_unsent_) until(may_send_progress_at_);
    if (phase_ == Phase::ended) until(write_again_at_);
    if (!next) return -1;
    const auto left_ms = std::max<std::int64_t>((*next - now).us + 999, 0) / 1'000;
    return static_cast<int>(std::min<std::int64_t>(left_ms, 1'000'000'000));
}

void Shim::wait_and_serve() {
    std::vector<pollfd> watched;
    watched.reserve(8);
    watched.push_back({signals_.get(), POLLIN, 0});
    if (lease_timer_) watched.push_back({lease_timer_.get(), POLLIN, 0});
    if (output_) watched.push_back({output_.get(), POLLIN, 0});
    link_.watch(watched);
    job_socket_.watch(watched);
    if (::poll(watched.data(), watched.size(), wait_ms()) <= 0) return;
    for (const auto& ready : watched)
        if (ready.revents != 0) serve(ready);
}

// A descriptor may have been closed, or its number reused, by what came before it: everybody looks
// at its own descriptors only, and a call for nothing is harmless.
void Shim::serve(const pollfd& ready) {
    if (ready.fd == signals_.get()) {
        signalfd_siginfo told;
        while (::read(signals_.get(), &told, sizeof told) > 0) {
        }
        return reap();
    }
    if (lease_timer_ && ready.fd == lease_timer_.get()) return check_lease();
    if (output_ && ready.fd == output_.get()) return read_output();
    link_.serve(ready, *this);
    if (phase_ == Phase::running) job_socket_.serve(ready, *this);
}

void Shim::read_output() {
    static std::array<char, 64 * 1024> block;
    for (int i = 0; i < reads_in_a_row; ++i) {
        const auto got = ::read(output_.get(), block.data(), block.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) return;
        if (got <= 0) return output_.reset();
        log_.add({block.data(), static_cast<std::size_t>(got)});
        active_at_ = shim_mono_now();
        if (active_at_ >= may_send_printed_at_)
            send_printed();
        else
            printed_unsent_ = true;
    }
}

void Shim::send_printed() {
    link_.send(talk::printed);
    printed_unsent_ = false;
    may_send_printed_at_ = shim_mono_now() + printed_pause;
}

void Shim::send_progress() {
    link_.send(talk::progress, std::to_string(progress_->percent) + " " + progress_->body);
    progress_unsent_ = false;
    may_send_progress_at_ = shim_mono_now() + printed_pause;
}

// --- what the worker says ------------------------------------------------------------------------

void Shim::on_worker() {
    worker_heard_at_ = shim_boot_now();
    arm_lease_timer();
    if (phase_ == Phase::running) link_.send(talk::started);
    progress_unsent_ = progress_.has_value();
    for (auto& ask : asks_) ask.told = false;
    for (auto& call : calls_) call.told = false;
    send_next_ask();
    send_next_call();
}

void Shim::on_record(const Record& record) {
    worker_heard_at_ = shim_boot_now();
    if (record.name == talk::start) return on_start(record.bytes);
    if (record.name == talk::renew) return on_renew(record.bytes);
    if (record.name == talk::answer) return on_answer(record.bytes);
    if (record.name == talk::reply) return on_reply(record.bytes);
    if (record.name == talk::kill) return kill(cause_named(record.bytes).value_or(Cause::cut_off));
}

void Shim::on_start(std::string_view bytes) {
    const auto order = parse_start(bytes);
    if (!order || phase_ != Phase::waiting) return;
    if (order->go_until) go_until_ = order->go_until;
    lease_until_ = std::max(lease_until_, order->lease_until);
    try_exec();
}

void Shim::on_renew(std::string_view bytes) {
    const auto until = number_in<std::int64_t>(bytes);
    if (until) lease_until_ = std::max(lease_until_, BootTime{*until});
    arm_lease_timer();
}

void Shim::on_answer(std::string_view bytes) {
    const auto answer = parse_answer(bytes);
    // It may be about one that was given up.
    if (!answer || asks_.empty() || asks_.front().number != answer->number) return;
    answer_ask(answer->committed);
}

// --- what the job says ---------------------------------------------------------------------------

std::optional<std::string> Shim::on_request(std::uint64_t connection, JobRequest request) {
    using Kind = JobRequest::Kind;
    if (request.kind == Kind::progress || request.kind == Kind::checkpoint)
        active_at_ = shim_mono_now();
    switch (request.kind) {
        case Kind::progress:
            progress_ = std::move(request);
            progress_unsent_ = true;
            return "ok";
        case Kind::verdict: verdict_ = std::move(request); return "ok";
        case Kind::result: result_ = std::move(request.body); return "ok";
        case Kind::begin:
        case Kind::checkpoint: break;
        case Kind::call:
            calls_.push_back({.connection = connection,
                              .number = ++last_call_,
                              .request = std::move(request),
                              .give_up_at = shim_mono_now() + ask_patience});
            send_next_call();
            return std::nullopt;
    }
    asks_.push_back({.connection = connection,
                     .number = ++last_ask_,
                     .request = std::move(request),
                     .give_up_at = shim_mono_now() + ask_patience});
    send_next_ask();
    return std::nullopt;
}

// Nobody waits for the answer any more. What was told to the worker stays: it may be committed,
// and the next answer is about it.
void Shim::on_hang_up(std::uint64_t connection) {
    const auto is_over = [&](const Ask& ask) { return ask.connection == connection && !ask.told; };
    std::erase_if(asks_, is_over);
    std::erase_if(calls_, is_over);
}

// One at a time: the worker answers in order, and numbers must rise as they are committed.
void Shim::send_next_ask() {
    if (asks_.empty() || asks_.front().told || !link_.connected()) return;
    auto& ask = asks_.front();
    ask.told = true;
    const bool begins = ask.request.kind == JobRequest::Kind::begin;
    const auto number = std::to_string(ask.number);
    if (begins)
        link_.send(talk::begin, number);
    else
        link_.send(talk::checkpoint, number + "\n" + ask.request.body);
}

void Shim::answer_ask(bool committed) {
    const auto ask = std::move(asks_.front());
    asks_.pop_front();
    if (committed) clean_ = ask.request.kind == JobRequest::Kind::checkpoint;
    job_socket_.answer(ask.connection,
                       committed ? "ok" : "error not_committed the server has not committed it");
    send_next_ask();
}

// One at a time: so a job costs its worker and its server one request at once.
void Shim::send_next_call() {
    if (calls_.empty() || calls_.front().told || !link_.connected()) return;
    auto& call = calls_.front();
    call.told = true;
    link_.send(talk::call, to_text(CallTalk{.number = call.number,
                                            .method = call.request.method,
                                            .target = call.request.target,
                                            .body = call.request.body}));
}

void Shim::on_reply(std::string_view bytes) {
    const auto reply = parse_reply(bytes);
    // It may be about one that was given up.
    if (!reply || calls_.empty() || calls_.front().number != reply->number) return;
    auto line = "ok " + std::to_string(reply->status) + " ";
    line.append(reply->body);
    // An answer is one line, whatever a server has sent.
    std::replace(line.begin(), line.end(), '\n', ' ');
    answer_call(line);
}

void Shim::answer_call(const std::string& line) {
    const auto connection = calls_.front().connection;
    calls_.pop_front();
    job_socket_.answer(connection, line);
    send_next_call();
}

}  // namespace perdure
