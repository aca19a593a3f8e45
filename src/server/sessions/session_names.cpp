#include "server/sessions/session_names.h"

namespace perdure {

Task<SessionNames> names_of_workers(Store& store, std::vector<SessionId> sessions) {
    SessionNames names;
    for (const auto id : sessions) {
        if (names.contains(id)) continue;
        auto session = co_await store.owner(id);
        if (session) names[id] = session->worker;
    }
    co_return names;
}

}  // namespace perdure
