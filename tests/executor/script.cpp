#include <fmt/format.h>

#include <memory>
#include <utility>

#include "tests/executor/play.h"

namespace perdure::executor {
namespace {

JobSpec spec_of(std::string kind) {
    JobSpec spec;
    spec.kind = std::move(kind);
    return spec;
}

template <class T>
std::string in_words(Trace& trace, const Result<T>& result) {
    if (!result) return std::string(to_string(result.error().code));
    return trace.of(ChangeReply(*result));
}
std::string in_words(const Result<void>& result) {
    return result ? "done" : std::string(to_string(result.error().code));
}

Task<std::string> submit(Play& play, JobSpec spec) {
    auto submitted = co_await play.jobs().submit(std::move(spec));
    if (submitted) play.submitted.push_back(submitted->id);
    co_return in_words(play.trace(), submitted);
}

Task<std::string> commit(Play& play, Lane lane, Change change) {
    auto reply = co_await play.commits().commit(lane, std::move(change));
    co_return play.trace().of(reply);
}

// --- jobs ------------------------------------------------------------------------------------

Task<std::string> submit_plain(Play& play) { return submit(play, spec_of("plain")); }
Task<std::string> submit_poison(Play& play) { return submit(play, spec_of("poison")); }
Task<std::string> submit_nameless(Play& play) { return submit(play, spec_of("")); }
Task<std::string> submit_limited(Play& play) {
    auto spec = spec_of("limited");
    spec.limits.push_back("pool");
    return submit(play, std::move(spec));
}
Task<std::string> submit_once(Play& play) {
    auto spec = spec_of("once");
    spec.effects = Effects::once;
    spec.priority = 1;
    return submit(play, std::move(spec));
}
Task<std::string> submit_with_key(Play& play) {
    auto spec = spec_of("with_key");
    spec.idempotency_key = "the key";
    return submit(play, std::move(spec));
}
Task<std::string> submit_other_body(Play& play) {
    auto spec = spec_of("other");
    spec.idempotency_key = "the key";
    return submit(play, std::move(spec));
}
Task<std::string> submit_short_lived(Play& play) {
    auto spec = spec_of("short_lived");
    spec.queue = "unused";
    spec.timeouts.queue = milliseconds(5);
    return submit(play, std::move(spec));
}

Task<std::string> define_pool(Play& play) {
    DefineLimit limit{.tenant = "default", .name = "pool", .max = 1};
    co_return in_words(co_await play.jobs().define_limit(std::move(limit)));
}
Task<std::string> cancel_last(Play& play) {
    Cancel change{play.submitted.back()};
    auto cancelled = co_await play.jobs().cancel(std::move(change));
    co_return in_words(play.trace(), cancelled);
}
Task<std::string> cancel_unknown(Play& play) {
    constexpr JobId nobody{77};
    Cancel change{nobody};
    auto cancelled = co_await play.jobs().cancel(std::move(change));
    co_return in_words(play.trace(), cancelled);
}
Task<std::string> hold_last(Play& play) {
    Hold change{play.submitted.back()};
    co_return in_words(co_await play.jobs().hold(std::move(change)));
}
Task<std::string> read_all(Play& play) {
    std::string text;
    for (const auto id : play.submitted) {
        auto view = co_await play.jobs().job(id);
        text += (view ? std::string(to_string(view->state)) : "gone") + " ";
    }
    co_return text;
}
Task<std::string> stale_tick(Play& play) {
    return commit(play, Lane::tick, Tick{.seen_tick = 1, .next = {.tick = 2}});
}

// --- sessions --------------------------------------------------------------------------------

struct Deaf final : Outbox {
    void send(StreamMessage) override {}
    void close() override {}
};

OpenRequest opening(std::uint64_t life) {
    OpenRequest request{.directory = {"machine", "boot", 1, 2}, .life = life, .slots = 3};
    request.worker = "worker";
    return request;
}

Task<std::string> open_session(Play& play) {
    auto opened = co_await play.sessions().open(opening(2));
    if (!opened) co_return std::string(to_string(opened.error().code));
    play.session = opened->session;
    co_return play.trace().name(opened->session);
}
Task<std::string> open_earlier_life(Play& play) {
    auto opened = co_await play.sessions().open(opening(1));
    co_return opened ? "opened" : std::string(to_string(opened.error().code));
}
Task<std::string> open_stream(Play& play) {
    auto outbox = std::make_shared<Deaf>();
    auto opened = co_await play.sessions().open_stream(play.session, std::move(outbox));
    if (opened) play.stream = *opened;
    co_return fmt::format("stream {}", play.stream);
}
Task<std::string> claim(Play& play) {
    Change change = Claim{.session = play.session, .stream = play.stream, .max = 2};
    auto reply = co_await play.commits().commit(Lane::claims, std::move(change));
    if (reply)
        for (const auto& a : std::get<Claimed>(*reply).assignments) play.assignments.push_back(a);
    co_return play.trace().of(reply);
}
Task<std::string> claim_on_an_old_stream(Play& play) {
    return commit(play, Lane::claims, Claim{.session = play.session, .stream = 0, .max = 2});
}
Task<std::string> heartbeat(Play& play) {
    HeartbeatRequest request{.session = play.session, .number = ++play.heartbeat, .slots = 3};
    request.lease = milliseconds(30);
    auto answer = co_await play.sessions().heartbeat(std::move(request));
    if (!answer) co_return std::string(to_string(answer.error().code));
    co_return fmt::format("answer {} resent {} stop {} kill {}", static_cast<int>(answer->answer),
                          answer->resent.size(), answer->stop.size(), answer->kill.size());
}

Task<std::string> report(Play& play, std::vector<ReportItem> items) {
    ReportRequest request{.session = play.session, .items = std::move(items)};
    auto response = co_await play.sessions().report(std::move(request));
    std::string text = "answers";
    for (const auto answer : response->answers)
        text += fmt::format(" {}", static_cast<int>(answer));
    co_return text;
}
Task<std::string> ask_for_all(Play& play) {
    std::vector<ReportItem> items;
    for (const auto& assignment : play.assignments)
        items.push_back({.attempt = assignment.attempt, .kind = ReportItem::Kind::ask});
    auto wrong = play.assignments.front().attempt;
    wrong.epoch = wrong.epoch.next();
    items.push_back({.attempt = wrong, .kind = ReportItem::Kind::ask});
    return report(play, std::move(items));
}
Task<std::string> first_succeeds(Play& play) {
    ReportItem item{.attempt = play.assignments.front().attempt};
    item.end = {.cause = Cause::exit, .ran = Ran::yes, .succeeded = true};
    std::vector<ReportItem> items;
    items.push_back(item);
    return report(play, std::move(items));
}
Task<std::string> last_asks_for_another_try(Play& play) {
    ReportItem item{.attempt = play.assignments.back().attempt};
    item.end = {.cause = Cause::verdict_retry, .ran = Ran::yes};
    std::vector<ReportItem> items;
    items.push_back(item);
    return report(play, std::move(items));
}

}  // namespace

Script whole_script() {
    Script script;
    script[2] = {{define_pool, submit_plain, submit_nameless, submit_with_key}, {}};
    script[3] = {{submit_with_key, submit_other_body, submit_limited, submit_limited}, {}};
    script[4] = {{submit_once, submit_short_lived, cancel_unknown, read_all}, {}};
    script[5] = {{open_session, submit_plain}, {}};
    script[6] = {{open_stream, open_earlier_life}, {}};
    // In one group, and not in this order: renewals first, submits last.
    script[7] = {{submit_plain, claim, cancel_last, heartbeat}, {}};
    script[8] = {{ask_for_all, claim_on_an_old_stream, stale_tick}, {}};
    script[9] = {{claim, first_succeeds, submit_plain}, StoreFault::aborted};
    script[11] = {{submit_plain, hold_last, submit_limited}, StoreFault::lost_but_done};
    script[13] = {{submit_plain, submit_once, cancel_last}, StoreFault::lost_and_not_done};
    script[15] = {{submit_plain, submit_poison, submit_once, heartbeat}, {}};
    script[16] = {{ask_for_all, last_asks_for_another_try}, {}};
    script[17] = {{submit_plain, claim}, StoreFault::down};
    script[18] = {{read_all}, StoreFault::down};  // it hits the next tick
    script[20] = {{claim, heartbeat}, {}};
    script[21] = {{ask_for_all, read_all}, {}};
    // Then silence: the lease ends, and the sweep settles what the session had.
    script[50] = {{heartbeat, claim, read_all}, {}};
    return script;
}

}  // namespace perdure::executor
