#include "processes/host.h"

#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "processes/disk/processes_without_shim.h"
#include "shim/protocol.h"

namespace perdure {
namespace {

using Timer = boost::asio::steady_timer::rebind_executor<Executor>::other;

// How much longer than it may need a shim gets to obey.
constexpr Duration obedience = milliseconds(300);
constexpr Duration obedience_in_peace = seconds(2);

}  // namespace

Host::Host(Executor executor, HostOptions options, Log log)
    : executor_(executor),
      options_(std::move(options)),
      log_(std::move(log)),
      events_(std::make_shared<EventQueue>(executor)) {}

void Host::close() {
    closed_ = true;
    pool_.join();
    for (auto& [key, entry] : attempts_)
        if (entry.link) entry.link->close();
    attempts_.clear();
    folder_.reset();  // and its lock
    slots_ = {};      // and theirs
    events_->close();
}

Host::Entry* Host::find(AttemptKey key) {
    const auto found = attempts_.find(key);
    return found == attempts_.end() ? nullptr : &found->second;
}

ShimLink* Host::link_of(AttemptKey key) {
    auto* entry = find(key);
    return entry ? entry->link.get() : nullptr;
}

// --- orders ------------------------------------------------------------------------------------

void Host::start(AttemptKey key, StartOrder order) {
    if (auto* link = link_of(key))
        link->send(talk::start, to_text(StartTalk{.go_until = order.go_until,
                                                  .lease_until = order.lease_until}));
}

void Host::renew(AttemptKey key, BootTime lease_until) {
    if (auto* link = link_of(key)) link->renew(std::to_string(lease_until.us));
}

void Host::kill(AttemptKey key, Cause cause) {
    auto* link = link_of(key);
    if (!link) return;
    link->send(talk::kill, to_string(cause));
    const bool at_once = cause == Cause::cut_off;
    kill_hard_after(key, cause,
                    at_once ? obedience : options_.timing.kill_grace + obedience_in_peace);
}

// A shim that hangs must not keep its process alive: then the worker does it (O7).
void Host::kill_hard_after(AttemptKey key, Cause cause, Duration patience) {
    auto timer = std::make_shared<Timer>(executor_, std::chrono::microseconds(patience.us));
    timer->async_wait([weak = weak_from_this(), timer, key, cause](boost::system::error_code) {
        const auto self = weak.lock();
        auto* entry = self ? self->find(key) : nullptr;
        if (!entry || !entry->link || entry->ended) return;
        self->log_.write(Level::warn, "shim does not obey", "job", key.job.text(), "epoch",
                         key.epoch.value);
        entry->hard_kill = cause;
        entry->link->kill_hard();
    });
}

void Host::answer(AttemptKey key, bool committed) {
    auto* entry = find(key);
    if (!entry || entry->asks.empty()) return;
    const AnswerTalk answer{.number = entry->asks.front(), .committed = committed};
    entry->asks.pop_front();
    if (entry->link) entry->link->send(talk::answer, to_text(answer));
}

void Host::reply(AttemptKey key, std::uint64_t number, const InsideReply& reply) {
    if (auto* link = link_of(key))
        link->send(talk::reply, to_text(ReplyTalk{number, reply.status, reply.body}));
}

void Host::forget(AttemptKey key) {
    auto* entry = find(key);
    if (!entry) return;
    const bool busy = entry->preparing || (entry->link && !entry->ended);
    if (!busy) return remove(key);
    entry->forgotten = true;
    kill(key, Cause::cut_off);
}

void Host::remove(AttemptKey key) {
    auto gone = attempts_.extract(key);
    // A shim that has said its last word is only on its way out; it is reaped when it is.
    boost::asio::post(pool_, [folder = folder_, key] { remove_attempt(*folder, key); });
    if (gone && gone.mapped().link && !gone.mapped().link->gone()) gone.mapped().link->let_go();
}

void Host::stopped_cleanly() {
    std::set<std::string> alive;
    for (const auto& [key, entry] : attempts_)
        if (!entry.ended) alive.insert(directory_name(key));
    controllers_.clear(alive);
    slots_.remove_unused();
    if (folder_) folder_->stopped_cleanly();
}

// --- what shims say ------------------------------------------------------------------------------

void Host::on_record(ShimLink& link, const Record& record) {
    const auto key = link.attempt();
    auto* entry = find(key);
    if (!entry || entry->ended) return;
    if (record.name == talk::started)
        push({.kind = ProcessEvent::Kind::started, .attempt = key});
    else if (record.name == talk::printed)
        push({.kind = ProcessEvent::Kind::printed, .attempt = key});
    else if (record.name == talk::progress)
        on_progress(key, record.bytes);
    else if (record.name == talk::begin || record.name == talk::checkpoint)
        on_ask(*entry, key, record);
    else if (record.name == talk::call)
        on_call(key, record.bytes);
    else if (record.name == talk::ended)
        on_ended(*entry, key, record.bytes);
}

void Host::on_progress(AttemptKey key, std::string_view bytes) {
    const auto space = std::min(bytes.find(' '), bytes.size());
    const auto percent = number_in<std::uint32_t>(bytes.substr(0, space));
    if (!percent || *percent > 100) return;
    ProcessEvent event{.kind = ProcessEvent::Kind::progress, .attempt = key};
    event.percent = *percent;
    event.text = bytes.substr(std::min(space + 1, bytes.size()));
    push(std::move(event));
}

void Host::on_call(AttemptKey key, std::string_view bytes) {
    const auto call = parse_call(bytes);
    if (!call) return;
    ProcessEvent event{.kind = ProcessEvent::Kind::call, .attempt = key};
    event.call = {.attempt = key,
                  .number = call->number,
                  .method = std::string(call->method),
                  .target = std::string(call->target),
                  .body = std::string(call->body)};
    push(std::move(event));
}

void Host::on_ask(Entry& entry, AttemptKey key, const Record& record) {
    const auto line_end = std::min(record.bytes.find('\n'), record.bytes.size());
    const auto number = number_in<std::uint64_t>(record.bytes.substr(0, line_end));
    if (!number) return;
    const bool begins = record.name == talk::begin;
    ProcessEvent event{.kind = begins ? ProcessEvent::Kind::begin : ProcessEvent::Kind::checkpoint,
                       .attempt = key};
    event.number = *number;
    if (!begins)
        event.checkpoint = record.bytes.substr(std::min(line_end + 1, record.bytes.size()));
    entry.asks.push_back(*number);
    push(std::move(event));
}

void Host::on_ended(Entry& entry, AttemptKey key, std::string_view text) {
    const auto result = text.empty() ? read_result(*folder_, key) : parse_result(text);
    if (!result) return;  // it is looked at again when the shim is gone
    has_ended(entry, key, result->end, result->evidence);
}

// Nothing of it is alive: its slot is free.
void Host::has_ended(Entry& entry, AttemptKey key, AttemptEnd end, EvidenceRef evidence) {
    entry.ended = true;
    free_slot(entry, key);
    push({.kind = ProcessEvent::Kind::ended,
          .attempt = key,
          .end = end,
          .evidence = std::move(evidence)});
}

// --- shims that are gone -------------------------------------------------------------------------

void Host::on_gone(ShimLink& link) {
    const auto key = link.attempt();
    auto* entry = find(key);
    if (!entry || entry->link.get() != &link) return;
    entry->link.reset();
    if (!entry->ended) return bury(key);
    if (entry->forgotten) remove(key);
}

// It has left a result, or its tree is killed first and then it is said that it is lost (O8).
void Host::bury(AttemptKey key) {
    auto work = [folder = folder_, key, weak = weak_from_this(), executor = executor_,
                 host = options_.host, cgroup = find(key)->cgroup] {
        Burial burial;
        if (auto result = read_result(*folder, key)) {
            burial = {.end = result->end, .evidence = result->evidence};
        } else {
            const auto name = directory_name(key);
            const bool none_comes = clear_shim(*folder, name);
            const bool slot_is_clear = cgroup.empty() || clear_slot(cgroup);
            burial.tree_is_gone =
                none_comes && slot_is_clear &&
                kill_leftovers(*folder, [&](const std::string& dead) { return dead == name; });
            const bool started = has_started(*folder, key);
            burial.end = {.cause = started ? Cause::shim_lost : Cause::shim_failed,
                          .ran = started ? Ran::maybe : Ran::no,
                          .reported = true};
            auto evidence = std::make_shared<Evidence>();
            evidence->detail = started ? "its shim died; what it had started was killed"
                                       : "its shim died before it had started anything";
            evidence->host = host;
            burial.evidence = std::move(evidence);
        }
        boost::asio::post(executor, [weak, key, burial = std::move(burial)] {
            if (const auto self = weak.lock()) self->buried(key, burial);
        });
    };
    boost::asio::post(pool_, std::move(work));
}

void Host::buried(AttemptKey key, Burial burial) {
    auto* entry = find(key);
    if (!entry || entry->ended) return;
    if (!burial.tree_is_gone)
        log_.write(Level::critical, "processes cannot be killed", "job", key.job.text(), "epoch",
                   key.epoch.value);
    if (entry->hard_kill && burial.end.cause == Cause::shim_lost)
        burial.end.cause = *entry->hard_kill;
    has_ended(*entry, key, burial.end, burial.evidence);
    if (entry->forgotten) remove(key);
}

}  // namespace perdure
