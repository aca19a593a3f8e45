#include "processes/in_process_kinds.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/json.hpp>
#include <utility>

#include "core/ownership/start.h"
#include "core/worker/kinds.h"
#include "core/worker/worker_rules.h"

namespace perdure {
namespace {

// What `perdure.sleep` is asked for; empty if that cannot be understood.
std::optional<Duration> length_in(const std::string& args) {
    boost::system::error_code failed;
    const auto value = boost::json::parse(args, failed);
    const auto* members = failed ? nullptr : value.if_object();
    const auto* ms = members ? members->if_contains("ms") : nullptr;
    if (!ms) return std::nullopt;
    const auto number = ms->to_number<std::int64_t>(failed);
    if (failed || number < 0 || number > days(365).us / 1'000) return std::nullopt;
    return milliseconds(number);
}

Task<Result<void>> answered(Result<void> answer) { co_return answer; }

}  // namespace

InProcessKinds::InProcessKinds(Processes& below, Clock& clock, Timing timing, Others others)
    : below_(below),
      clock_(clock),
      timing_(timing),
      others_(std::move(others)),
      events_(std::make_shared<EventQueue>(clock.executor())) {}

InProcessKinds::~InProcessKinds() {
    events_->close();
    for (auto& [attempt, inside] : inside_) {
        if (inside->work) inside->work->stop();
        inside->alarm.reset();  // and with it who sleeps
    }
}

Task<Result<WorkerLife>> InProcessKinds::open() {
    auto* below = &below_;
    const auto events = events_;
    const auto executor = clock_.executor();
    auto life = co_await below->open();
    if (life) boost::asio::co_spawn(executor, pass_on(below, events), boost::asio::detached);
    co_return life;
}

Task<void> InProcessKinds::pass_on(Processes* below, Queue events) {
    while (true) {
        auto several = co_await below->next_events();
        for (auto& event : several) events->push(std::move(event));
    }
}

Task<std::vector<ProcessEvent>> InProcessKinds::next_events() { return EventQueue::next(events_); }

InProcessKinds::Inside* InProcessKinds::find(AttemptKey attempt) {
    const auto found = inside_.find(attempt);
    return found == inside_.end() ? nullptr : found->second.get();
}

Task<Result<void>> InProcessKinds::prepare(Assignment assignment) {
    if (auto answer = prepare_at_once(assignment)) return answered(std::move(*answer));
    return below_.prepare(std::move(assignment));
}

std::optional<Result<void>> InProcessKinds::prepare_at_once(const Assignment& assignment) {
    const auto& spec = *assignment.spec;
    const auto other = others_.find(spec.kind);
    const bool sleeps = spec.kind == pause_kind;
    if (other == others_.end() && spec.kind != noop_kind && !sleeps)
        return below_.prepare_at_once(assignment);
    if (spec.resources != Resources{})
        return error(Errc::invalid, spec.kind +
                                        " is carried out by the worker itself, "
                                        "which cannot limit its resources");
    if (other != others_.end()) return prepare_work(*other->second, assignment);
    const auto length = sleeps ? length_in(spec.args) : Duration{};
    if (!length) return error(Errc::invalid, "perdure.sleep needs args like {\"ms\": 100}");
    enter(assignment).length = *length;
    return Result<void>{};
}

Result<void> InProcessKinds::prepare_work(InProcessKind& kind, const Assignment& assignment) {
    auto work = kind.prepare(assignment);
    if (!work) return work.error();
    enter(assignment).work = std::move(*work);
    return {};
}

InProcessKinds::Inside& InProcessKinds::enter(const Assignment& assignment) {
    auto& inside = inside_[assignment.attempt];
    if (!inside) inside = std::make_shared<Inside>();
    inside->terms = assignment.terms;
    inside->run_timeout = assignment.spec->timeouts.run;
    return *inside;
}

void InProcessKinds::start(AttemptKey attempt, StartOrder order) {
    const auto found = inside_.find(attempt);
    if (found == inside_.end()) return below_.start(attempt, order);
    const auto inside = found->second;
    const auto decision = decide_exec({.terms = inside->terms,
                                       .now = clock_.boot(),
                                       .go_until = order.go_until,
                                       .lease_until = order.lease_until,
                                       .already_started = inside->ended || inside->alarm},
                                      timing_);
    if (decision.answer == ExecAnswer::exec) return begin(attempt, inside);
    const bool too_late = decision.answer == ExecAnswer::never && !inside->alarm;
    if (too_late) end(attempt, *inside, did_not_run(Cause::cut_off), *events_);
}

void InProcessKinds::begin(AttemptKey attempt, const std::shared_ptr<Inside>& inside) {
    if (inside->length == Duration{} && !inside->work) {
        const AttemptEnd well{
            .cause = Cause::exit, .ran = Ran::yes, .succeeded = true, .reported = true};
        return end(attempt, *inside, well, *events_);
    }
    inside->alarm = clock_.make_alarm();
    events_->push({.kind = ProcessEvent::Kind::started, .attempt = attempt});
    const auto spawn = [&](Task<void> task) {
        boost::asio::co_spawn(clock_.executor(), std::move(task), boost::asio::detached);
    };
    if (!inside->work) return spawn(sleep_until_its_end(attempt, inside, events_));
    spawn(work_until_its_end(attempt, inside, events_));
    spawn(stop_in_time(attempt, inside, events_));
}

Task<void> InProcessKinds::work_until_its_end(AttemptKey attempt, std::shared_ptr<Inside> inside,
                                              Queue events) {
    const auto work = inside->work;
    auto how = co_await work->run();
    end(attempt, *inside, how.end, *events, std::move(how.evidence));
    if (inside->alarm) inside->alarm->ring();
}

// Also after a kill, and when it is forgotten: what ended it rings.
Task<void> InProcessKinds::stop_in_time(AttemptKey attempt, std::shared_ptr<Inside> inside,
                                        Queue events) {
    co_await inside->alarm->wait(inside->run_timeout);
    inside->work->stop();
    const AttemptEnd late{.cause = Cause::timeout_run, .ran = Ran::yes, .reported = true};
    end(attempt, *inside, late, *events);
}

Task<void> InProcessKinds::sleep_until_its_end(AttemptKey attempt, std::shared_ptr<Inside> inside,
                                               Queue events) {
    const bool in_time = inside->length <= inside->run_timeout;
    co_await inside->alarm->wait(std::min(inside->length, inside->run_timeout));
    const AttemptEnd how{.cause = in_time ? Cause::exit : Cause::timeout_run,
                         .ran = Ran::yes,
                         .succeeded = in_time,
                         .reported = true};
    end(attempt, *inside, how, *events);
}

void InProcessKinds::end(AttemptKey attempt, Inside& inside, AttemptEnd how, EventQueue& events,
                         EvidenceRef evidence) {
    if (std::exchange(inside.ended, true)) return;
    events.push({.kind = ProcessEvent::Kind::ended,
                 .attempt = attempt,
                 .end = how,
                 .evidence = std::move(evidence)});
}

void InProcessKinds::kill(AttemptKey attempt, Cause cause) {
    auto* inside = find(attempt);
    if (!inside) return below_.kill(attempt, cause);
    AttemptEnd how = did_not_run(cause);
    if (inside->alarm) how.ran = Ran::yes;
    end(attempt, *inside, how, *events_);
    if (inside->alarm) inside->alarm->ring();
}

void InProcessKinds::renew(AttemptKey attempt, BootTime lease_until) {
    if (!find(attempt)) below_.renew(attempt, lease_until);
}

void InProcessKinds::deliver(AttemptKey attempt, ProcessAnswer answer) {
    if (!find(attempt)) below_.deliver(attempt, std::move(answer));
}

Task<Result<std::string>> InProcessKinds::output(AttemptKey attempt, std::uint64_t offset,
                                                 std::size_t max) {
    if (!find(attempt)) co_return co_await below_.output(attempt, offset, max);
    co_return std::string();
}

void InProcessKinds::forget(AttemptKey attempt) {
    const auto found = inside_.find(attempt);
    if (found == inside_.end()) return below_.forget(attempt);
    const auto inside = found->second;
    inside_.erase(found);
    inside->ended = true;
    if (inside->alarm) inside->alarm->ring();
}

}  // namespace perdure
