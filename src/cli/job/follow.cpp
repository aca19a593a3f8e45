#include "cli/job/follow.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <utility>

#include "cli/answer.h"
#include "cli/job/why_text.h"
#include "cli/table.h"
#include "wire/text_time.h"

namespace perdure::cli {
namespace {

constexpr auto reconnect_first = milliseconds(200);
constexpr auto reconnect_max = seconds(2);
// Nothing moves for so long: it is said why, and again when that has changed.
constexpr auto quiet_first = seconds(5);
constexpr auto quiet_again = seconds(30);
constexpr auto wait_most = seconds(30);  // of one call that waits for an end

class Follower {
public:
    Follower(Context& context, const std::string& id, const FollowOptions& options)
        : context_(context), id_(id), options_(options), attempt_(options.first_attempt) {}

    Followed run();

private:
    enum class Step { go_on, look };

    Step watch_attempt();
    Step watch_without_output();
    void print_why();
    bool tells_why() const { return options_.owner && patience_ && !context_.args.flag("quiet"); }
    // Empty: not ended, or not known.
    std::optional<Followed> poll_job();
    void lost(const Error& why);
    void found_again();
    std::optional<Followed> ask_person();
    std::optional<Followed> cancel();
    bool has_ended();
    Followed detach();

    Context& context_;
    const std::string& id_;
    const FollowOptions& options_;
    std::int64_t attempt_;
    std::uint64_t offset_ = 0;
    std::optional<Error> failure_;  // of the last call
    bool connected_ = true;
    bool cancelling_ = false;
    Duration wait_ = reconnect_first;
    std::optional<Duration> patience_ = quiet_first;  // empty: it runs
    std::string detail_;                              // of the attempt that ended last
    std::string told_;                                // why nothing moves
};

Followed Follower::run() {
    context_.system.catch_interrupts();
    while (true) {
        const auto step = watch_attempt();
        const auto failure = std::exchange(failure_, std::nullopt);
        // A call that a person has interrupted has lost nothing.
        const auto interrupt = context_.system.interrupted();
        if (interrupt == Interrupt::by_signal) return detach();
        if (interrupt == Interrupt::by_person) {
            if (auto left = ask_person()) return *left;
            continue;
        }
        if (failure) lost(*failure);
        if (step == Step::look) {
            if (auto ended = poll_job()) return *ended;
        }
    }
}

Follower::Step Follower::watch_without_output() {
    const auto quiet_for = tells_why() ? *patience_ : wait_most;
    auto answer = context_.api.request(
        {.target = fmt::format("/v1/jobs/{}/wait?for={}", escaped(id_), duration_text(quiet_for)),
         .timeout = quiet_for + seconds(10)});
    if (!answer) {
        failure_ = answer.error();
        return Step::go_on;
    }
    found_again();
    if (answer->status != 202) return Step::look;
    if (tells_why()) print_why();
    return Step::go_on;
}

Follower::Step Follower::watch_attempt() {
    if (!options_.show_output) return watch_without_output();
    const auto target = fmt::format("/v1/jobs/{}/logs?follow=attempt&epoch={}&offset={}",
                                    escaped(id_), attempt_, offset_);
    const auto quiet_for = tells_why() ? patience_ : std::nullopt;
    auto answer = context_.api.stream(target, quiet_for, [this](std::string_view bytes) {
        found_again();
        offset_ += bytes.size();
        patience_.reset();
        context_.term.out(bytes);
        return true;
    });
    if (!answer) {
        failure_ = answer.error();
        return Step::go_on;
    }
    if (answer->went_quiet) {
        if (tells_why()) print_why();
        return Step::go_on;
    }
    if (answer->status >= 500 || answer->status == 429) {
        failure_ = answer->refusal;
        return Step::go_on;
    }
    found_again();
    return Step::look;
}

void Follower::print_why() {
    patience_ = quiet_again;
    const auto answer =
        context_.api.request({.target = fmt::format("/v1/jobs/{}/why", escaped(id_))});
    if (!answer || !answer->ok()) return;
    const auto state = text_of(answer->body, "state");
    // It is at work: that it prints nothing is its own business.
    if (state == "running") return patience_.reset();
    if (list_of(answer->body, "blockers").empty()) return;
    auto text = fmt::format("job {} is {}:{}", id_, state, blockers_in_short(answer->body));
    if (text == told_) return;
    context_.term.say(text);
    told_ = std::move(text);
}

void Follower::lost(const Error& why) {
    if (connected_)
        context_.term.say(
            fmt::format("connection lost ({}); the job goes on, trying again", why.what));
    connected_ = false;
    context_.system.pause(wait_);
    wait_ = std::min(wait_ * 2, reconnect_max);
}

void Follower::found_again() {
    if (!connected_)
        context_.term.say(options_.show_output
                              ? fmt::format("connected again; going on at byte {} of attempt {}",
                                            offset_, attempt_)
                              : "connected again");
    connected_ = true;
    wait_ = reconnect_first;
}

std::optional<Followed> Follower::poll_job() {
    auto answer = context_.api.request({.target = "/v1/jobs/" + escaped(id_)});
    if (!answer || answer->status >= 500 || answer->status == 429) {
        lost(answer ? answer->refusal : answer.error());
        return std::nullopt;
    }
    if (!answer->ok())
        return Followed{Followed::How::refused, {}, context_.term.fail(answer->refusal)};
    const auto& job = answer->body;
    if (has(job, "ended_at")) return Followed{Followed::How::ended, job, ExitCode::ok};
    // This attempt has ended and the job has not: there will be another one.
    // One that is too old to be shown has ended.
    bool has_ended = attempt_ < number_of(job, "attempts_next");
    std::string cause;
    for (const auto& attempt : list_of(job, "attempts")) {
        if (number_of(attempt, "epoch") != attempt_ || !has(attempt, "cause")) continue;
        has_ended = true;
        cause = fmt::format(" ({})", text_of(attempt, "cause"));
        // The same again and again is said once.
        const auto detail = text_of(member(attempt, "evidence"), "detail");
        if (!detail.empty() && detail != detail_) cause += ": " + fitted(detail);
        detail_ = detail;
        break;
    }
    if (!has_ended) return std::nullopt;
    context_.term.say(
        fmt::format("attempt {} ended{}; the job is {}", attempt_, cause, text_of(job, "state")));
    ++attempt_;
    offset_ = 0;
    patience_ = quiet_first;
    return std::nullopt;
}

Followed Follower::detach() {
    context_.term.say(
        fmt::format("detached; the job goes on. Watch it: perdure logs -f {}; stop "
                    "it: perdure job cancel {}",
                    id_, id_));
    return {Followed::How::detached, {}, ExitCode::detached};
}

std::optional<Followed> Follower::ask_person() {
    if (!options_.owner || cancelling_ || !context_.term.look().interactive) return detach();
    context_.term.ask("\n[c]ancel the job, [d]etach and let it go on, or Enter to go on watching?");
    bool is_over = false;
    const auto answer = context_.system.read_answer([&] { return is_over = has_ended(); });
    if (is_over) {
        context_.term.say("it has ended meanwhile");
        return std::nullopt;
    }
    if (!answer || answer->starts_with('d') || answer->starts_with('D')) return detach();
    if (answer->starts_with('c') || answer->starts_with('C')) return cancel();
    return std::nullopt;
}

bool Follower::has_ended() {
    const auto answer = context_.api.request({.target = "/v1/jobs/" + escaped(id_)});
    return answer && answer->ok() && has(answer->body, "ended_at");
}

std::optional<Followed> Follower::cancel() {
    auto answer = context_.api.request(
        {.method = "POST", .target = fmt::format("/v1/jobs/{}/cancel", escaped(id_))});
    if (!answer || !answer->ok()) {
        context_.term.say(fmt::format("the cancel was not confirmed: {}",
                                      answer ? answer->refusal.what : answer.error().what));
        return std::nullopt;
    }
    cancelling_ = true;
    context_.term.say("cancelled; waiting for its end");
    return std::nullopt;
}

ExitCode code_of_failure(const boost::json::value& job) {
    const auto cause = text_of(job, "cause");
    if (cause.starts_with("timeout(")) return ExitCode::timed_out;
    if (cause == "command_unusable") return ExitCode::command_unusable;
    const auto code = number_of(job, "exit_code");
    if (code > 0 && code < 256) return static_cast<ExitCode>(code);
    return ExitCode::lost;
}

}  // namespace

Followed follow(Context& context, const std::string& id, const FollowOptions& options) {
    return Follower(context, id, options).run();
}

ExitCode exit_code_of_job(const boost::json::value& job) {
    const auto state = text_of(job, "state");
    if (state == "succeeded") return ExitCode::ok;
    if (state == "cancelled") return ExitCode::cancelled;
    if (state == "expired") return ExitCode::expired;
    // As a shell says it, whatever becomes of the job then. What a timeout kills has timed out.
    const bool by_signal = has(job, "signal") && !text_of(job, "cause").starts_with("timeout(");
    if (by_signal) return static_cast<ExitCode>(128 + number_of(job, "signal"));
    if (state == "quarantined") return ExitCode::quarantined;
    return code_of_failure(job);
}

std::string undelivered_of(const boost::json::value& attempt) {
    const auto& evidence = member(attempt, "evidence");
    const auto undelivered = number_of(evidence, "output_undelivered");
    const auto cut = number_of(evidence, "output_cut");
    std::string text;
    if (cut > 0) text = fmt::format("incomplete: {} bytes not kept (see --output-max)", cut);
    if (undelivered > 0)
        text += fmt::format("{}{} bytes not delivered", text.empty() ? "incomplete: " : ", ",
                            undelivered);
    return text;
}

bool say_what_is_missing(Terminal& term, const boost::json::value& job,
                         std::optional<std::int64_t> only) {
    bool any = false;
    for (const auto& attempt : list_of(job, "attempts")) {
        const auto number = number_of(attempt, "epoch");
        const auto missing = undelivered_of(attempt);
        if (missing.empty() || (only && number != *only)) continue;
        term.say(fmt::format("output of attempt {} is {}", number, missing));
        any = true;
    }
    return any;
}

std::string how_it_ended(const boost::json::value& job) {
    auto text = text_of(job, "state");
    const auto cause = text_of(job, "cause");
    if (has(job, "signal"))
        text += fmt::format(": {} {}", cause, number_of(job, "signal"));
    else if (cause == "exit" && text != "succeeded")
        text += fmt::format(": exit code {}", number_of(job, "exit_code"));
    else if (!cause.empty() && cause != "exit" && cause != text)
        text += ": " + cause;
    const auto& attempts = list_of(job, "attempts");
    const auto count = has(job, "attempts_next") ? number_of(job, "epoch")
                                                 : static_cast<std::int64_t>(attempts.size());
    if (count > 1) text += fmt::format(", after {} attempts", count);
    if (attempts.empty()) return text;
    const auto detail = text_of(member(attempts.back(), "evidence"), "detail");
    return detail.empty() ? text : fmt::format("{} ({})", text, detail);
}

}  // namespace perdure::cli
