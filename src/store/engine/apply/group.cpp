#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/probe.h"
#include "base/zoo.h"
#include "core/ownership/presence.h"
#include "store/engine/apply/apply.h"
#include "store/engine/apply/debts.h"
#include "store/engine/apply/job_relations.h"
#include "store/engine/apply/moves.h"
#include "store/engine/job_events.h"

namespace perdure::store {
namespace {

Error another_was_first() { return error(Errc::conflict, "another server was first"); }
Error fenced_off() { return error(Errc::fenced, "this server's life was fenced off"); }

// Its mark stays (L3).
void forget_server(State& state, ServerId id) {
    auto& highest = state.change_service().id_high_water;
    highest = std::max(highest, state.servers().at(id).id_high_water);
    state.remove_server(id);
}

void forget_dead_servers(State& state) {
    std::vector<ServerId> dead;
    for (const auto& [id, row] : state.servers())
        if (decide_server_retention({row.used, state.service.servers_used}).forget)
            dead.push_back(id);
    for (const auto id : dead) forget_server(state, id);
}

// A number that no server has; if there is none, the one that was used least recently, whose
// server is fenced off by losing its row.
std::uint32_t lease_number(State& state) {
    std::set<std::uint32_t> used;
    for (const auto& [id, row] : state.servers()) used.insert(row.number);
    // The last one is the store's own.
    for (std::uint32_t number = 0; number < IdSource::server_number_max; ++number)
        if (!used.contains(number)) return number;
    const auto oldest = std::min_element(
        state.servers().begin(), state.servers().end(),
        [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    const auto number = oldest->second.number;
    forget_server(state, oldest->first);
    return number;
}

// The highest of all numbers: ids go on above everything that was ever drawn.
std::uint64_t high_water(State& state) {
    auto highest = state.service.id_high_water;
    for (const auto& [id, row] : state.servers()) highest = std::max(highest, row.id_high_water);
    return zoo(Bug::id_high_water_forgotten) ? 0 : highest;
}

ChangeReply apply_one(State& state, const Change& change) {
    auto reply = std::visit([&](const auto& c) { return apply(state, c); }, change);
    if (reply.is(Errc::fenced)) ++state.change_service().fenced;
    if (!zoo(Bug::callbacks_made_in_another_group)) run_end_effects(state);
    return reply;
}

// The bug: what the last group has ended is settled by the next one, if its server lives on.
void run_end_effects_in_another_group(State& state, ServerId server) {
    if (state.server == server) return run_end_effects(state);
    state.ended.clear();
}

bool may_commit(const ServerRow& row, const Group& group) {
    if (row.fence != group.fence) return false;
    return group.number == row.last_group + 1 || zoo(Bug::group_number_not_checked);
}

bool raises_mark(const State& state, const Group& group) {
    const auto found = state.servers().find(group.server);
    return found != state.servers().end() && group.id_high_water > found->second.id_high_water;
}

// The job that a change is about, if it is about one.
JobId subject_of(const Change& change) {
    return std::visit(
        [](const auto& c) {
            if constexpr (requires { c.attempt.job; }) {
                return c.attempt.job;
            } else if constexpr (requires { c.job.value; }) {
                return c.job;
            } else {
                return JobId{};
            }
        },
        change);
}

// The group is given up. What it failed at is left alone by whoever tries again: the job, so that a
// claim or a sweep goes on with all others; or, if it is about that very job, the change.
void blame(State& state, const Failure& failure) {
    if (failure.fatal || failure.error.code != Errc::corrupt) return;
    state.isolate_last(failure.error);
}

ChangeReply apply_unless_damaged(State& state, const Group& group, std::size_t index,
                                 GivenUp& given_up) {
    if (const auto known = given_up.find(index); known != given_up.end()) return known->second;
    const auto& change = group.changes[index];
    if (auto why = state.book.why_isolated(subject_of(change)))
        return error(Errc::corrupt, std::move(*why));
    state.at = {};
    state.rows.begin_step();
    try {
        return apply_one(state, change);
    } catch (const Failure& failure) {
        const auto known = state.book.isolated();
        blame(state, failure);
        const bool is_corrupt = !failure.fatal && failure.error.code == Errc::corrupt;
        if (is_corrupt && state.book.isolated() == known) given_up.emplace(index, failure.error);
        throw;
    }
}

// Who was suspect until now can be given something.
void note_heartbeats(State& state, const Group& group) {
    for (const auto& change : group.changes) {
        const auto* heartbeat = std::get_if<Heartbeat>(&change);
        if (heartbeat && state.unheard.erase(heartbeat->session) > 0) state.work_appeared = true;
    }
}

// The group that was applied.
void write(State& state) {
    if (state.stays_unwritten) {
        reached<"group_stays_unwritten">();
        if (!state.unwritten_since) state.unwritten_since = state.now();
        return;
    }
    try {
        state.save_all();
    } catch (const Failure& failure) {
        blame(state, failure);
        throw;
    }
    state.tables.commit();
}

}  // namespace

std::uint64_t highest_id(const State& state) {
    auto highest = std::max(state.service.id_high_water, state.service.made_id_high_water);
    for (const auto& [id, row] : state.servers()) highest = std::max(highest, row.id_high_water);
    return highest;
}

Result<ServerOpened> open_server(State& state, ServerId server, WallTime wall) {
    state.tables.begin();
    state.change_service().wall = wall;
    auto& servers = state.servers();
    if (!servers.contains(server)) {
        forget_dead_servers(state);
        const auto number = lease_number(state);
        servers[server] = {.number = number, .id_high_water = high_water(state)};
    }
    ServerRow& row = servers[server];
    row.used = ++state.change_service().servers_used;
    state.save_server(server);
    state.save_all();
    state.tables.commit();
    return ServerOpened{.number = row.number,
                        .id_high_water = row.id_high_water,
                        .last_group = row.last_group,
                        .fence = row.fence,
                        .clock = state.service.clock};
}

void write_unwritten(State& state) {
    if (!state.unwritten_since) return;
    state.tables.begin();
    state.save_all();
    state.tables.commit();
}

// What was left unwritten goes ahead in a transaction of its own: should this one fail, only its
// own changes are undone. One that says nothing new has nothing to fail at.
Result<GroupReply> commit(State& state, const Group& group, GivenUp& given_up) {
    const auto idleness = check_idleness(state, group);
    if (raises_mark(state, group)) state.note_mark();
    const bool is_noted = idleness.is_idle && !idleness.stays_unwritten && state.can_be_noted();
    state.stays_unwritten = idleness.stays_unwritten || is_noted;
    if (!says_nothing_new(state, group)) write_unwritten(state);
    const auto found = state.servers().find(group.server);
    if (found == state.servers().end() || !may_commit(found->second, group)) return fenced_off();
    ServerRow& row = found->second;

    if (!state.stays_unwritten) state.tables.begin();
    row.last_group = group.number;
    row.id_high_water = std::max(row.id_high_water, group.id_high_water);
    row.used = ++state.change_service().servers_used;
    state.save_server(group.server);
    if (zoo(Bug::callbacks_made_in_another_group))
        run_end_effects_in_another_group(state, group.server);
    state.server = group.server;
    state.change_service().wall = group.wall;
    state.work_appeared = false;
    state.recoveries.clear();
    state.promoted.clear();
    state.lines_read = 0;
    state.room = state.timing.group_room;

    GroupReply reply;
    reply.replies.reserve(group.changes.size());
    bool is_led_astray = false;
    state.rows.begin_group(
        [&](Wanted& wanted) { plan(state, group, reply.replies.size(), wanted); });
    for (std::size_t i = 0; i < group.changes.size(); ++i) {
        reply.replies.push_back(is_led_astray ? ChangeReply(another_was_first())
                                              : apply_unless_damaged(state, group, i, given_up));
        const auto* tick = std::get_if<Tick>(&group.changes[i]);
        if (tick && tick->leads_from && !reply.replies.back()) is_led_astray = true;
    }
    if (!state.stays_unwritten) pay_debts(state);
    const bool has_loaded_enough = state.rows.has_loaded_enough();
    state.rows.end_group();
    reply.events = events_of(*state.pending, state.now());
    write(state);
    if (is_noted) state.write_note();
    note_heartbeats(state, group);
    state.trim();
    reply.clock = state.service.clock;
    reply.keeper = state.service.keeper;
    reply.written_tick = state.written_tick();
    reply.work_appeared = state.work_appeared;
    reply.idle = idleness.is_idle;
    reply.attempts_overdue = state.has_overdue_attempts();
    // What is owed although there was room waits for a person.
    reply.owes = (state.room == 0 || has_loaded_enough) && !state.debts.empty();
    reply.recoveries = std::exchange(state.recoveries, {});
    return reply;
}

Result<LastGroup> resolve_unknown(State& state, ServerId server, std::uint64_t fence) {
    const auto found = state.servers().find(server);
    if (found == state.servers().end()) return fenced_off();
    ServerRow& row = found->second;
    const bool asked_before = row.fence == fence + 1;
    if (!asked_before) {
        if (row.fence != fence) return fenced_off();
        state.tables.begin();
        if (!zoo(Bug::fence_not_raised)) ++row.fence;
        state.save_server(server);
        state.save_all();
        state.tables.commit();
    }
    return LastGroup{row.last_group, row.fence};
}

ChangeReply apply(State& state, const Tick& change) {
    const auto& clock = state.service.clock;
    const bool is_newest =
        change.seen_tick == clock.tick && change.leads_from.value_or(clock.now) == clock.now;
    if (!is_newest && zoo(Bug::each_server_adds_its_own_second)) {
        state.change_service().clock.now = clock.now + state.timing.tick_advance_max;
        ++state.change_service().clock.tick;
        return {Applied{}};
    }
    if (!is_newest) return another_was_first();
    const bool goes_on = change.next.tick == change.seen_tick + 1 && change.next.now >= clock.now &&
                         change.next.grace_until >= clock.grace_until;
    if (!goes_on) return error(Errc::invalid, "service time never goes back");
    state.change_service().clock = change.next;
    // Under load every group ticks: so often nothing need be tidied, nor while all is idle.
    const bool is_early = change.next.now < state.tidied_at + state.timing.tick;
    if (is_early || state.stays_unwritten) return {Applied{}};
    state.tidied_at = change.next.now;
    state.pending.change().tidy = true;
    return {Applied{}};
}

ChangeReply apply(State& state, const TakeKeeper& change) {
    if (state.service.keeper != change.expected && !zoo(Bug::keeper_not_compared))
        return error(Errc::conflict, "the keeper's role has changed");
    state.change_service().keeper = change.next;
    return {Applied{}};
}

ChangeReply apply(State& state, const DefineLimit& change) {
    if (change.max == 0) return error(Errc::invalid, "a limit must be at least 1");
    const Permit limit{Permit::Kind::limit, change.tenant, change.name};
    const bool known = zoo(Bug::limit_lowered_ignored) && state.holders.is_defined(limit);
    if (known && change.max < state.holders.max(limit)) return {Applied{}};
    preload_permit(state, limit, {.free = change.max});
    state.holders.define(limit, change.max);
    restore_line(state, limit);  // there may be more room now
    return {Applied{}};
}

ChangeReply apply(State& state, const PauseQueue& change) {
    if (change.paused && zoo(Bug::pause_forgotten)) return {Applied{}};
    const bool changes = state.shapes.pause(change.tenant, change.queue, change.paused);
    if (changes) state.fronts.ranking().note_pause(change.tenant, change.queue);
    if (!change.paused) {
        // What was `ready` all the time can be claimed again.
        if (changes) state.work_appeared = true;
        return {Applied{}};
    }
    state.debts.owe_kept({});
    free_what_paused_queues_keep(state);
    return {Applied{}};
}

}  // namespace perdure::store
