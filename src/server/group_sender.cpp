#include "server/group_sender.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/probe.h"
#include "base/zoo.h"
#include "server/commit_faults.h"

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

// What is known of a group for which no request waits any more.
Error why_late(const SentGroup& group) {
    const bool may_be_done = !group.reply || *group.reply || group.reply->is(Errc::outcome_unknown);
    if (!may_be_done) return error(Errc::unavailable, "the store does not answer");
    reached<"answered_outcome_unknown">();
    return error(Errc::outcome_unknown, "the store does not answer");
}

}  // namespace

GroupSender::GroupSender(Store& store, Clock& clock, Owner& owner, Log log)
    : store_(store),
      clock_(clock),
      owner_(owner),
      log_(std::move(log)),
      resolve_alarm_(clock.make_alarm()),
      carriers_(clock.executor()) {}

Task<std::optional<ServerOpened>> GroupSender::open(ServerId server, Stop& stop, Alarm& pause) {
    server_ = server;
    while (!stop.requested()) {
        auto opened = co_await store_.open_server(server, clock_.wall());
        if (opened) {
            ids_.emplace(opened->number, opened->id_high_water);
            number_ = opened->last_group;
            fence_ = opened->fence;
            co_return *opened;
        }
        log_.write(Level::warn, "store does not open", "why", opened.error().what);
        co_await pause.wait(store_retry);
    }
    co_return std::nullopt;
}

void GroupSender::send(CommitBatch batch) {
    auto& group = add(std::move(batch));
    carriers_.spawn("commit a group", carry(group));
}

SentGroup& GroupSender::add(CommitBatch batch) {
    auto group = std::make_unique<SentGroup>();
    group->batch = std::move(batch);
    group->number = (under_way_.empty() ? number_ : under_way_.back()->number) + 1;
    group->was_alone = under_way_.empty();
    under_way_.push_back(std::move(group));
    return *under_way_.back();
}

void GroupSender::refuse_late(BootTime now) {
    for (auto& group : under_way_) {
        for (auto& request : group->batch) {
            if (!request->waiter || now < request->deadline) continue;
            owner_.refuse(*request, why_late(*group));
        }
    }
}

std::vector<SentTick> GroupSender::ticks_under_way() const {
    std::vector<SentTick> ticks;
    for (const auto& group : under_way_)
        if (group->tick) ticks.push_back({*group->tick, group->sent_at});
    return ticks;
}

bool GroupSender::is_in_trouble() const {
    const auto has_failed = [](const auto& group) { return group->reply && !*group->reply; };
    return is_handling_failed_ || std::any_of(under_way_.begin(), under_way_.end(), has_failed);
}

Task<void> GroupSender::carry(SentGroup& group) {
    co_await ask(group);
    if (is_in_trouble()) {
        co_await handle_failed_groups();
    } else {
        take_in_order();
    }
    owner_.has_room();
}

Task<void> GroupSender::ask(SentGroup& group) {
    group.sent_at = clock_.boot();
    auto content = content_of(group);
    const auto kinds = kinds_for_faults(content);
    auto fault = fault_before_commit(kinds);
    Result<GroupReply> reply(fault.value_or(Error{}));
    if (!fault) reply = co_await store_.commit(std::move(content));
    if (reply) fault = fault_after_commit(kinds, *reply);
    if (reply && fault) reply = *fault;
    group.reply.emplace(std::move(reply));
}

Group GroupSender::content_of(SentGroup& group) const {
    Group content{.server = server_,
                  .number = group.number,
                  .fence = fence_,
                  .id_high_water = ids_->high_water(),
                  .wall = clock_.wall(),
                  .changes = {}};
    std::size_t count = 0;
    for (const auto& request : group.batch) count += request->changes.size();
    content.changes.reserve(count);
    for (const auto& request : group.batch)
        content.changes.insert(content.changes.end(), request->changes.begin(),
                               request->changes.end());
    std::optional<SentTick> ahead;
    for (const auto& earlier : under_way_) {
        if (earlier.get() == &group) break;
        if (earlier->tick) ahead = {*earlier->tick, earlier->sent_at};
    }
    for (auto& change : content.changes) {
        auto* tick = std::get_if<Tick>(&change);
        if (!tick || tick->next.tick != 0) continue;
        *tick = owner_.next_tick(group.sent_at, ahead);
        group.tick = tick->next;
    }
    return content;
}

// A group that was sent earlier is answered earlier: what a reply shows never goes back.
void GroupSender::take_in_order() {
    while (!under_way_.empty() && under_way_.front()->reply) {
        const auto group = std::move(under_way_.front());
        under_way_.pop_front();
        take_committed(*group);
    }
}

void GroupSender::take_committed(SentGroup& group) {
    number_ = std::max(number_, group.number);
    owner_.committed(group);
}

// Those behind a group that was not simply committed were sent in the belief that it would be:
// nothing is decided before all of them are answered.
Task<void> GroupSender::handle_failed_groups() {
    const auto is_answered = [](const auto& group) { return group->reply.has_value(); };
    if (!std::all_of(under_way_.begin(), under_way_.end(), is_answered)) co_return;
    is_handling_failed_ = true;
    co_await resolve();
    is_handling_failed_ = false;
}

Task<void> GroupSender::resolve() {
    const auto is_unknown = [](const auto& group) {
        return group->reply->is(Errc::outcome_unknown);
    };
    if (std::any_of(under_way_.begin(), under_way_.end(), is_unknown)) {
        const bool is_heard = co_await find_last_group();
        if (!is_heard) co_return;
    }
    CommitBatch again;
    Bad bad;
    for (auto& group : std::exchange(under_way_, {})) {
        auto rest = resolve(*group, bad);
        std::move(rest.begin(), rest.end(), std::back_inserter(again));
    }
    owner_.send_again(std::move(again));
    if (!bad.batch.empty()) co_await execute_halves(std::move(bad));
}

// Answers who can be answered; returns those that must be asked again. `bad`: those among whom one
// hurts the others.
CommitBatch GroupSender::resolve(SentGroup& group, Bad& bad) {
    if (*group.reply) {
        take_committed(group);
        return {};
    }
    if (group.number <= number_) return take_unanswered(group);
    const auto& why = group.reply->error();
    if (why.code == Errc::outcome_unknown) reached<"unknown_outcome_was_not_committed">();
    const bool built_on_another = group.number > number_ + 1;
    const bool overtook_another = why.code == Errc::fenced && !group.was_alone;
    if (built_on_another || overtook_another) {
        reached<"group_sent_again_after_another">();
        return std::move(group.batch);
    }
    switch (why.code) {
        case Errc::outcome_unknown: return std::move(group.batch);
        case Errc::conflict:  // aborted by a neighbour's transaction: nothing was done
            reached<"group_aborted_and_repeated">();
            return std::move(group.batch);
        case Errc::unavailable: refuse_all(group.batch, why); break;
        case Errc::fenced:  // not the requests': it is this server that is no longer heard
            refuse_all(group.batch, error(Errc::unavailable, why.what));
            owner_.fenced_off("this server's life was fenced off: " + why.what);
            break;
        default:
            bad = {std::move(group.batch), why};
            // Requests without a waiter; each half is led by a tick of its own.
            std::erase_if(bad.batch, [](const auto& request) { return !request->waiter; });
    }
    return {};
}

Task<void> GroupSender::execute_halves(Bad bad) {
    auto& batch = bad.batch;
    if (batch.size() == 1) {
        log_.write(Level::error, "the store cannot take a request", "why", bad.why.what, "code",
                   to_string(bad.why.code));
        refuse_all(batch,
                   error(Errc::invalid, "the store cannot take this request: " + bad.why.what));
        co_return;
    }
    reached<"group_halved">();
    const auto middle = batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2);
    CommitBatch second(std::make_move_iterator(middle), std::make_move_iterator(batch.end()));
    batch.resize(batch.size() / 2);
    co_await execute(std::move(batch));
    co_await execute(std::move(second));
}

Task<void> GroupSender::execute(CommitBatch batch) {
    co_await ask(add(owner_.led_by_a_tick(std::move(batch))));
    co_await resolve();
}

// Finds out which of the groups under way were committed: those up to `number_`. False: this
// server is no longer heard.
Task<bool> GroupSender::find_last_group() {
    if (zoo(Bug::blind_repeat_of_unknown_outcome)) {
        number_ = under_way_.back()->number;
        for (auto& group : std::exchange(under_way_, {}))
            refuse_all(group->batch, error(Errc::unavailable, "the store did not answer"));
        co_return false;
    }
    for (;;) {
        auto last = co_await store_.resolve_unknown(server_, fence_);
        if (last) {
            fence_ = last->fence;
            number_ = last->last_group;
            co_return true;
        }
        if (last.is(Errc::fenced)) {
            for (auto& group : std::exchange(under_way_, {}))
                refuse_all(group->batch,
                           error(Errc::outcome_unknown, "this server's life was fenced off"));
            owner_.fenced_off("this server's life was fenced off");
            co_return false;
        }
        co_await resolve_alarm_->wait(store_retry);
    }
}

// Committed, but nobody knows what was answered.
CommitBatch GroupSender::take_unanswered(SentGroup& group) {
    reached<"unknown_outcome_was_committed">();
    owner_.committed_unanswered(group);
    CommitBatch again;
    for (auto& request : group.batch) {
        const auto& changes = request->changes;
        if (std::all_of(changes.begin(), changes.end(), answers_alike_when_repeated)) {
            request->committed = true;
            again.push_back(std::move(request));
            continue;
        }
        owner_.refuse(*request, error(Errc::outcome_unknown, "committed, but the reply was lost"));
    }
    return again;
}

void GroupSender::refuse_all(CommitBatch& batch, const Error& why) {
    for (auto& request : batch) owner_.refuse(*request, why);
}

}  // namespace perdure
