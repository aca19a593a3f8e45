// Opening a session: whose attempts it inherits, and what comes back with it (O5).
#include <utility>

#include "base/probe.h"
#include "core/ownership/takeover.h"
#include "server/sessions/session_service.h"

namespace perdure {
namespace {

void note(Opening opening) {
    switch (opening) {
        case Opening::repeated: reached<"opening_repeated">(); break;
        case Opening::take_over: reached<"session_taken_over">(); break;
        case Opening::after_reboot: reached<"session_after_reboot">(); break;
        case Opening::stale:
        case Opening::clone:
        case Opening::fresh: break;
    }
}

}  // namespace

Task<Result<OpenAnswer>> SessionService::open(OpenRequest request) {
    if (!commits_.healthy()) co_return error(Errc::unavailable, "the store does not answer");
    OpenSession change{.session = commits_.next_session_id(),
                       .directory = std::move(request.directory),
                       .life = request.life,
                       .worker = std::move(request.worker),
                       .slots = request.slots,
                       .offer = std::move(request.offer),
                       .lease = timing_.lease,
                       .on_disk = std::move(request.on_disk),
                       .away = request.away};
    if (auto policy = decide_worker_policy(*book_, change.worker))
        change.policy = std::make_shared<const PolicyChoice>(std::move(*policy));
    auto reply = co_await commits_.commit(Lane::reports, std::move(change));
    if (reply.is(Errc::fenced)) reached<"opening_of_an_earlier_life">();
    if (reply.is(Errc::conflict)) reached<"clone_refused">();
    if (!reply) co_return reply.error();
    const auto& opened = std::get<SessionOpened>(*reply);
    if (opened.store_is_behind) co_return end_life_behind();
    note(opened.opening);
    const bool came_back =
        opened.opening == Opening::take_over || opened.opening == Opening::after_reboot;
    if (came_back && meter_) meter_->worker_came_back(opened.seen);
    co_return OpenAnswer{opened.session, timing_.lease};
}

}  // namespace perdure
