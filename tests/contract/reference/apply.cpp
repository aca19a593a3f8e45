#include "tests/contract/reference/apply.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "core/presence.h"
#include "tests/contract/reference/history/ledger.h"
#include "tests/contract/reference/relations/relations.h"

namespace perdure::reference {
namespace {

Error another_was_first() { return error(Errc::conflict, "another server was first"); }
Error fenced_off() { return error(Errc::fenced, "this server's life was fenced off"); }

// Its mark stays (L3).
void forget_server(State& state, ServerId id) {
    const auto found = state.servers.find(id);
    state.id_high_water = std::max(state.id_high_water, found->second.id_high_water);
    state.servers.erase(found);
}

void forget_dead_servers(State& state) {
    std::vector<ServerId> dead;
    for (const auto& [id, row] : state.servers)
        if (decide_server_retention({row.used, state.servers_used}).forget) dead.push_back(id);
    for (const auto id : dead) forget_server(state, id);
}

// A number that no server has; if there is none, the one that was used least recently, whose
// server is fenced off by losing its row.
std::uint32_t lease_number(State& state) {
    std::set<std::uint32_t> used;
    for (const auto& [id, row] : state.servers) used.insert(row.number);
    // The last one is the store's own.
    for (std::uint32_t number = 0; number < IdSource::server_number_max; ++number)
        if (!used.contains(number)) return number;
    const auto oldest = std::min_element(
        state.servers.begin(), state.servers.end(),
        [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    const auto number = oldest->second.number;
    forget_server(state, oldest->first);
    return number;
}

// The highest of all numbers: ids go on above everything that was ever drawn.
std::uint64_t high_water(const State& state) {
    auto highest = state.id_high_water;
    for (const auto& [id, row] : state.servers) highest = std::max(highest, row.id_high_water);
    return highest;
}

ChangeReply apply_one(State& state, const Change& change) {
    auto reply = std::visit([&](const auto& c) { return apply(state, c); }, change);
    if (reply.is(Errc::fenced)) ++state.fenced;
    settle_ends(state);
    return reply;
}

bool may_commit(const ServerRow& row, const Group& group) {
    if (row.fence != group.fence) return false;
    return group.number == row.last_group + 1;
}

}  // namespace

Result<ServerOpened> open_server(State& state, ServerId server, WallTime wall) {
    state.wall = wall;
    auto found = state.servers.find(server);
    if (found == state.servers.end()) {
        forget_dead_servers(state);
        const auto number = lease_number(state);
        const ServerRow row{.number = number, .id_high_water = high_water(state)};
        found = state.servers.emplace(server, row).first;
    }
    ServerRow& row = found->second;
    row.used = ++state.servers_used;
    return ServerOpened{.number = row.number,
                        .id_high_water = row.id_high_water,
                        .last_group = row.last_group,
                        .fence = row.fence,
                        .clock = state.clock};
}

Result<GroupReply> commit(State& state, const Group& group) {
    const auto found = state.servers.find(group.server);
    if (found == state.servers.end() || !may_commit(found->second, group)) return fenced_off();
    ServerRow& row = found->second;
    row.last_group = group.number;
    row.id_high_water = std::max(row.id_high_water, group.id_high_water);
    row.used = ++state.servers_used;
    state.wall = group.wall;
    state.work_appeared = false;
    state.recoveries.clear();

    GroupReply reply;
    reply.replies.reserve(group.changes.size());
    bool is_led_astray = false;
    for (const auto& change : group.changes) {
        reply.replies.push_back(is_led_astray ? ChangeReply(another_was_first())
                                              : apply_one(state, change));
        const auto* tick = std::get_if<Tick>(&change);
        if (tick && tick->leads_from && !reply.replies.back()) is_led_astray = true;
    }
    PERDURE_ASSERT(state.places.total() == state.jobs.size());
    reply.clock = state.clock;
    reply.work_appeared = state.work_appeared;
    reply.recoveries = std::exchange(state.recoveries, {});
    return reply;
}

Result<Settled> settle_unknown(State& state, ServerId server, std::uint64_t fence) {
    const auto found = state.servers.find(server);
    if (found == state.servers.end()) return fenced_off();
    ServerRow& row = found->second;
    const bool asked_before = row.fence == fence + 1;
    if (!asked_before) {
        if (row.fence != fence) return fenced_off();
        ++row.fence;
    }
    return Settled{row.last_group, row.fence};
}

ChangeReply apply(State& state, const Tick& change) {
    const auto& clock = state.clock;
    const bool is_newest =
        change.seen_tick == clock.tick && change.leads_from.value_or(clock.now) == clock.now;
    if (!is_newest) return another_was_first();
    const bool goes_on = change.next.tick == change.seen_tick + 1 && change.next.now >= clock.now &&
                         change.next.grace_until >= clock.grace_until;
    if (!goes_on) return error(Errc::invalid, "service time never goes back");
    state.clock = change.next;
    return {Applied{}};
}

ChangeReply apply(State& state, const TakeKeeper& change) {
    if (state.keeper != change.expected)
        return error(Errc::conflict, "the keeper's role has changed");
    state.keeper = change.next;
    return {Applied{}};
}

ChangeReply apply(State& state, const DefineLimit& change) {
    if (change.max == 0) return error(Errc::invalid, "a limit must be at least 1");
    const Thing limit{Thing::Kind::limit, change.tenant, change.name};
    state.holders.define(limit, change.max);
    restore_line(state, limit);  // there may be more room now
    return {Applied{}};
}

ChangeReply apply(State& state, const PauseQueue& change) {
    const std::pair queue{change.tenant, change.queue};
    if (!change.paused) {
        // What was `ready` all the time can be claimed again.
        if (state.paused_queues.erase(queue) > 0) state.work_appeared = true;
        note_who_waits(state, {change.tenant, change.queue, "", ""});
        return {Applied{}};
    }
    state.paused_queues.insert(queue);
    note_who_waits(state, {change.tenant, change.queue, "", ""});
    // Nobody may wait for what stands still: kept things are freed (C4).
    const auto& kept = state.places.kept();
    for (const JobId id : std::vector(kept.begin(), kept.end())) {
        JobRow& job = state.jobs.at(id);
        if (state.is_paused(job)) move_and_free(state, job, Ready{job.in<Ready>()->stay});
    }
    return {Applied{}};
}

}  // namespace perdure::reference
