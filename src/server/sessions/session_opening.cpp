// Opening a session: whose attempts it inherits, and what comes back with it (O5).
#include <utility>

#include "base/probe.h"
#include "core/takeover.h"
#include "server/sessions/session_service.h"
#include "server/settling.h"

namespace perdure {
namespace {

std::optional<Listed> find(const std::vector<Listed>& listed, AttemptKey attempt) {
    for (const auto& entry : listed)
        if (entry.attempt == attempt) return entry;
    return std::nullopt;
}

OpeningFacts opening_facts(const OpenRequest& request, const std::optional<SessionView>& previous) {
    OpeningFacts facts{.life = request.life};
    if (!previous) return facts;
    facts.has_previous = true;
    facts.same_boot = previous->directory.boot == request.directory.boot;
    facts.previous_life = previous->life;
    facts.previous_heard_at = previous->heard_at;
    facts.clock = previous->clock;
    return facts;
}

OpenSession::Inherited inherit(const RunView& run, const OpenRequest& request, bool same_boot,
                               bool alone) {
    const auto decision = decide_inherit({.same_boot = same_boot,
                                          .listed = find(request.on_disk, run.attempt),
                                          .state = run.state,
                                          .asks = run.terms.asks,
                                          .clean = run.clean,
                                          .alone = alone,
                                          .order = run.order});
    OpenSession::Inherited inherited{.attempt = run.attempt, .state = run.state};
    inherited.rule = decision.rule;
    if (decision.end) {
        inherited.end = judged(run, *decision.end);
        inherited.next = next_after(run, *inherited.end);
    }
    return inherited;
}

// How the ledger tells the end of the previous session. Service time says how long nothing was
// heard of it; its watchdog, if there is one, knows better when it died.
Sighting seen_at_opening(const OpenRequest& request, const SessionView& previous,
                         const OpeningDecision& decision) {
    const auto silent_for = previous.clock.now - previous.heard_at;
    const bool rebooted = decision.opening == Opening::after_reboot;
    return {.detector = rebooted ? Detector::reboot : Detector::takeover,
            .rule = decision.rule,
            .silent_for = request.away != Duration{} ? request.away : silent_for,
            .announced = previous.draining};
}

}  // namespace

Task<Result<OpenAnswer>> SessionService::open(OpenRequest request) {
    if (!commits_.healthy()) co_return error(Errc::unavailable, "the store does not answer");
    constexpr int tries = 5;
    for (int i = 0; i < tries; ++i) {
        auto opened = co_await open_once(request);
        const bool moved = opened.is(Errc::conflict) && opened.error().what.empty();
        if (!moved) co_return opened;
        reached<"opening_decided_again">();
    }
    co_return error(Errc::overloaded, "the directory's session keeps changing; try again");
}

// A conflict without words means: decide again.
Task<Result<OpenAnswer>> SessionService::open_once(OpenRequest request) {
    auto previous = co_await store_.opening(request.directory);
    if (!previous) co_return previous.error();
    const auto decision = decide_opening(opening_facts(request, *previous), timing_);
    OpenSession change{.session = commits_.next_session_id(),
                       .directory = request.directory,
                       .life = request.life,
                       .worker = request.worker,
                       .slots = request.slots,
                       .offer = request.offer,
                       .lease = timing_.lease};
    if (auto policy = decide_worker_policy(*book_, request.worker))
        change.policy = std::make_shared<const PolicyChoice>(std::move(*policy));
    switch (decision.opening) {
        case Opening::repeated:
            reached<"opening_repeated">();
            co_return OpenAnswer{(*previous)->session, timing_.lease};
        case Opening::stale:
            reached<"opening_of_an_earlier_life">();
            co_return error(Errc::fenced, "a later life of this state directory has a session");
        case Opening::clone:
            reached<"clone_refused">();
            co_return error(Errc::conflict, "another machine with this state directory is alive");
        case Opening::take_over: reached<"session_taken_over">(); break;
        case Opening::after_reboot: reached<"session_after_reboot">(); break;
        case Opening::fresh: break;
    }
    if (*previous) {
        change.previous = (*previous)->session;
        change.seen = seen_at_opening(request, **previous, decision);
        const bool same_boot = decision.opening == Opening::take_over;
        const bool alone = (*previous)->runs.size() == 1;
        for (const auto& run : (*previous)->runs)
            change.inherited.push_back(inherit(run, request, same_boot, alone));
    }
    const auto session = change.session;
    std::vector<RunView> inherited;
    if (*previous) inherited = (*previous)->runs;
    auto strangers = co_await judge_strangers(session, request.on_disk, std::move(inherited), 0);
    if (!strangers) co_return strangers.error();
    const auto seen = change.seen;
    auto changes = with_returning(std::move(change), session, *strangers, seen);
    auto replies = co_await commits_.commit_all(Lane::reports, std::move(changes));
    const auto& reply = replies.front();
    if (reply && *previous && meter_) meter_->worker_came_back(seen);
    if (reply) co_return OpenAnswer{session, timing_.lease};
    if (reply.is(Errc::conflict)) co_return error(Errc::conflict, "");
    co_return reply.error();
}

}  // namespace perdure
