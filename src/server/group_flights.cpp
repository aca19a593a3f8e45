// GroupCommit's groups on their way: sent one after the other without waiting for each other's
// reply, answered in their order, and sorted out when one of them was not simply committed.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/probe.h"
#include "base/zoo.h"
#include "server/commit_faults.h"
#include "server/group_commit.h"

namespace perdure {
namespace {

// A lost reply to one of these does no harm if it is simply asked again after the outcome is
// settled: the second time answers as the first one did.
bool answers_alike_when_repeated(const Change& change) {
    return std::holds_alternative<Submit>(change) || std::holds_alternative<SubmitAll>(change) ||
           std::holds_alternative<AddCallback>(change) || std::holds_alternative<Start>(change) ||
           std::holds_alternative<Report>(change) || std::holds_alternative<Progress>(change) ||
           std::holds_alternative<Cancel>(change);
}

// Whether a wait begins that must not end early (T2): everything that puts a job, or an attempt,
// into a place with a deadline.
struct MakesDeadline {
    bool operator()(const Tick&) const { return false; }
    bool operator()(const OpenStream&) const { return false; }
    bool operator()(const EndSession&) const { return false; }
    bool operator()(const Start&) const { return false; }
    bool operator()(const Progress&) const { return false; }
    bool operator()(const TakeKeeper&) const { return false; }
    bool operator()(const ForgetEnded&) const { return false; }
    bool operator()(const DefineLimit&) const { return false; }
    bool operator()(const PauseQueue&) const { return false; }
    template <class Other>
    bool operator()(const Other&) const {
        return !zoo(Bug::waits_count_from_the_last_tick);
    }
};

bool makes_deadline(const std::vector<Change>& changes) {
    return std::any_of(changes.begin(), changes.end(),
                       [](const Change& change) { return std::visit(MakesDeadline{}, change); });
}

}  // namespace

void GroupCommit::send_what_waits() {
    const auto may_send = [this] {
        if (is_in_trouble() || is_stopping_ || flights_.size() == flights_max) return false;
        return flights_.empty() ? !lanes_.empty() : lanes_.has_jobs(store_.worth_sending_ahead());
    };
    while (may_send()) {
        auto& flight = add_flight(lanes_.form());
        carriers_.spawn("commit a group", carry(flight));
    }
}

GroupCommit::Flight& GroupCommit::add_flight(CommitBatch batch) {
    auto flight = std::make_unique<Flight>();
    flight->batch = led_by_a_tick(std::move(batch));
    flight->number = (flights_.empty() ? number_ : flights_.back()->number) + 1;
    flight->was_alone = flights_.empty();
    flights_.push_back(std::move(flight));
    return *flights_.back();
}

// Before everything else (T2).
CommitBatch GroupCommit::led_by_a_tick(CommitBatch batch) const {
    bool has_tick = options_.leading_ticks == LeadingTicks::never || seen_.of_another;
    bool needs_tick = false;
    for (const auto& request : batch) {
        has_tick = has_tick || request->lane == Lane::tick;
        needs_tick = needs_tick || makes_deadline(request->changes);
    }
    if (has_tick || !needs_tick) return batch;
    auto tick = std::make_unique<CommitRequest>();
    tick->lane = Lane::tick;
    tick->changes.push_back(Tick{});
    batch.insert(batch.begin(), std::move(tick));
    return batch;
}

bool GroupCommit::is_in_trouble() const {
    const auto has_failed = [](const auto& flight) { return flight->reply && !*flight->reply; };
    return is_sorting_out_ || std::any_of(flights_.begin(), flights_.end(), has_failed);
}

Task<void> GroupCommit::carry(Flight& flight) {
    co_await ask(flight);
    if (is_in_trouble()) {
        co_await sort_out();
    } else {
        take_in_order();
    }
    send_what_waits();
    alarm_->ring();
}

Task<void> GroupCommit::ask(Flight& flight) {
    if (zoo(Bug::ack_before_commit)) acknowledge_too_early(flight.batch);
    flight.asked_at = clock_.boot();
    auto group = group_of(flight);
    const auto kinds = kinds_for_faults(group);
    auto fault = fault_before_commit(kinds);
    Result<GroupReply> reply(fault.value_or(Error{}));
    if (!fault) reply = co_await store_.commit(std::move(group));
    if (reply) fault = fault_after_commit(kinds, *reply);
    if (reply && fault) reply = *fault;
    flight.reply.emplace(std::move(reply));
}

void GroupCommit::acknowledge_too_early(CommitBatch& batch) {
    for (auto& request : batch) {
        const auto* submit = std::get_if<Submit>(&request->changes.front());
        if (!submit || !request->waiter) continue;
        answer(*request, {ChangeReply(Submitted{submit->id, true, JobState::ready})});
    }
}

// Whoever was sent earlier is answered earlier: what a reply shows never goes back.
void GroupCommit::take_in_order() {
    while (!flights_.empty() && flights_.front()->reply) {
        const auto flight = std::move(flights_.front());
        flights_.pop_front();
        take_committed(*flight);
    }
}

// Those behind a group that was not simply committed were sent in the belief that it would be:
// nothing is decided before all of them are answered.
Task<void> GroupCommit::sort_out() {
    const auto is_answered = [](const auto& flight) { return flight->reply.has_value(); };
    if (!std::all_of(flights_.begin(), flights_.end(), is_answered)) co_return;
    is_sorting_out_ = true;
    co_await resolve();
    is_sorting_out_ = false;
}

Task<void> GroupCommit::resolve() {
    const auto is_unknown = [](const auto& flight) {
        return flight->reply->is(Errc::outcome_unknown);
    };
    if (std::any_of(flights_.begin(), flights_.end(), is_unknown)) {
        const bool is_heard = co_await settle();
        if (!is_heard) co_return;
    }
    CommitBatch again;
    Bad bad;
    for (auto& flight : std::exchange(flights_, {})) {
        auto rest = resolve(*flight, bad);
        std::move(rest.begin(), rest.end(), std::back_inserter(again));
    }
    put_back(std::move(again));
    if (!bad.batch.empty()) co_await execute_halves(std::move(bad));
}

// Answers who can be answered; returns those that must be asked again. `bad`: those among whom one
// hurts the others.
CommitBatch GroupCommit::resolve(Flight& flight, Bad& bad) {
    if (*flight.reply) {
        take_committed(flight);
        return {};
    }
    if (flight.number <= number_) return take_lost_replies(flight);
    const auto& why = flight.reply->error();
    if (why.code == Errc::outcome_unknown) reached<"unknown_outcome_was_not_committed">();
    const bool built_on_another = flight.number > number_ + 1;
    const bool overtook_another = why.code == Errc::fenced && !flight.was_alone;
    if (built_on_another || overtook_another) {
        reached<"group_sent_again_after_another">();
        return std::move(flight.batch);
    }
    switch (why.code) {
        case Errc::outcome_unknown: return std::move(flight.batch);
        case Errc::conflict:  // aborted by a neighbour's transaction: nothing was done
            reached<"group_aborted_and_repeated">();
            return std::move(flight.batch);
        case Errc::unavailable: refuse(flight.batch, why); break;
        case Errc::fenced:  // not the requests': it is this server that is no longer heard
            refuse(flight.batch, error(Errc::unavailable, why.what));
            fatal_("this server's life was fenced off: " + why.what);
            break;
        default:
            bad = {std::move(flight.batch), why};
            // Whoever is no longer waited for; each half is led by a tick of its own.
            std::erase_if(bad.batch, [](const auto& request) { return !request->waiter; });
    }
    return {};
}

Task<void> GroupCommit::execute_halves(Bad bad) {
    auto& batch = bad.batch;
    if (batch.size() == 1) {
        log_.write(Level::error, "the store cannot take a request", "why", bad.why.what, "code",
                   to_string(bad.why.code));
        refuse(batch, error(Errc::invalid, "the store cannot take this request: " + bad.why.what));
        co_return;
    }
    reached<"group_halved">();
    const auto middle = batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2);
    CommitBatch second(std::make_move_iterator(middle), std::make_move_iterator(batch.end()));
    batch.resize(batch.size() / 2);
    co_await execute(std::move(batch));
    co_await execute(std::move(second));
}

Task<void> GroupCommit::execute(CommitBatch batch) {
    co_await ask(add_flight(std::move(batch)));
    co_await resolve();
}

// Finds out which of the groups under way were committed: those up to `number_`. False: this
// server is no longer heard.
Task<bool> GroupCommit::settle() {
    if (zoo(Bug::blind_repeat_of_unknown_outcome)) {
        number_ = flights_.back()->number;
        for (auto& flight : std::exchange(flights_, {}))
            refuse(flight->batch, error(Errc::unavailable, "the store did not answer"));
        co_return false;
    }
    for (;;) {
        auto settled = co_await store_.settle_unknown(server_, fence_);
        if (settled) {
            fence_ = settled->fence;
            number_ = settled->last_group;
            co_return true;
        }
        if (settled.is(Errc::fenced)) {
            for (auto& flight : std::exchange(flights_, {}))
                refuse(flight->batch,
                       error(Errc::outcome_unknown, "this server's life was fenced off"));
            fatal_("this server's life was fenced off");
            co_return false;
        }
        co_await settle_alarm_->wait(store_retry);
    }
}

// Committed, but nobody knows what was answered.
CommitBatch GroupCommit::take_lost_replies(Flight& flight) {
    reached<"unknown_outcome_was_committed">();
    good_at_ = clock_.boot();
    // Of several that rest on one tick, only the first can have counted.
    if (flight.tick && (!lost_tick_ || lost_tick_->clock.tick < flight.tick->tick))
        lost_tick_ = {*flight.tick, flight.asked_at};
    CommitBatch again;
    for (auto& request : flight.batch) {
        const auto& changes = request->changes;
        if (std::all_of(changes.begin(), changes.end(), answers_alike_when_repeated)) {
            request->committed = true;
            again.push_back(std::move(request));
            continue;
        }
        refuse(*request, error(Errc::outcome_unknown, "committed, but the reply was lost"));
    }
    return again;
}

}  // namespace perdure
