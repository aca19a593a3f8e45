#include "cli/job/follow.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <utility>

#include "cli/answer.h"

namespace perdure::cli {
namespace {

constexpr auto reconnect_first = milliseconds(200);
constexpr auto reconnect_max = seconds(2);

class Follower {
public:
    Follower(Context& context, const std::string& id, const FollowOptions& options)
        : context_(context), id_(id), options_(options), attempt_(options.first_attempt) {}

    Followed run();

private:
    enum class Step { go_on, look };

    Step watch_attempt();
    // Nothing: not ended, or not known.
    std::optional<Followed> look_at_job();
    void lost(const Error& why);
    void found_again();
    std::optional<Followed> ask_person();
    std::optional<Followed> cancel();
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
};

Followed Follower::run() {
    context_.world.catch_interrupts();
    while (true) {
        const auto step = watch_attempt();
        const auto failure = std::exchange(failure_, std::nullopt);
        // A call that a person has interrupted has lost nothing.
        if (context_.world.interrupted()) {
            if (auto left = ask_person()) return *left;
            continue;
        }
        if (failure) lost(*failure);
        if (step == Step::look) {
            if (auto ended = look_at_job()) return *ended;
        }
    }
}

Follower::Step Follower::watch_attempt() {
    const auto target = options_.show_output
                            ? fmt::format("/v1/jobs/{}/logs?follow=attempt&epoch={}&offset={}",
                                          escaped(id_), attempt_, offset_)
                            : fmt::format("/v1/jobs/{}/wait?for=30s", escaped(id_));
    if (!options_.show_output) {
        auto answer = context_.api.request({.target = target, .timeout = seconds(40)});
        if (!answer) {
            failure_ = answer.error();
            return Step::go_on;
        }
        found_again();
        return answer->status == 202 ? Step::go_on : Step::look;
    }
    auto answer = context_.api.stream(target, [this](std::string_view bytes) {
        found_again();
        offset_ += bytes.size();
        context_.term.out(bytes);
        return true;
    });
    if (!answer) {
        failure_ = answer.error();
        return Step::go_on;
    }
    if (answer->status >= 500 || answer->status == 429) {
        failure_ = answer->refusal;
        return Step::go_on;
    }
    found_again();
    return Step::look;
}

void Follower::lost(const Error& why) {
    if (connected_)
        context_.term.say(
            fmt::format("connection lost ({}); the job goes on, trying again", why.what));
    connected_ = false;
    context_.world.pause(wait_);
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

std::optional<Followed> Follower::look_at_job() {
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
        break;
    }
    if (!has_ended) return std::nullopt;
    context_.term.say(
        fmt::format("attempt {} ended{}; the job is {}", attempt_, cause, text_of(job, "state")));
    ++attempt_;
    offset_ = 0;
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
    const auto answer = context_.world.read_answer();
    if (!answer || answer->starts_with('d') || answer->starts_with('D')) return detach();
    if (answer->starts_with('c') || answer->starts_with('C')) return cancel();
    return std::nullopt;
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
    if (has(job, "signal")) return static_cast<ExitCode>(128 + number_of(job, "signal"));
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
    if (state == "quarantined") return ExitCode::quarantined;
    return code_of_failure(job);
}

std::string undelivered_of(const boost::json::value& attempt) {
    const auto missing = number_of(member(attempt, "evidence"), "output_undelivered");
    return missing > 0 ? fmt::format("incomplete: {} bytes not delivered", missing) : "";
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
