// Host: what stands behind HostProcesses: the attempts of this state directory, their shims, and
// the events for the worker. Everything runs on the loop except what is given to the pool, which
// works on the StateFolder alone.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "ports/process.h"
#include "processes/disk/attempt_directory.h"
#include "processes/disk/state_folder.h"
#include "processes/event_queue.h"
#include "processes/host_processes.h"
#include "processes/order_for.h"
#include "processes/shim_link.h"

namespace perdure {

class Host final : public ShimLinkOwner, public std::enable_shared_from_this<Host> {
public:
    using Self = std::shared_ptr<Host>;

    Host(Executor executor, HostOptions options, Log log);
    void close();

    // Static, with a share in the host: their frames may outlive the caller.
    static Task<Result<WorkerLife>> open(Self self);
    static Task<Result<std::uint64_t>> next_life(Self self);
    static Task<Result<void>> prepare(Self self, Assignment assignment);
    static Task<Result<std::string>> output(Self self, AttemptKey attempt, std::uint64_t offset,
                                            std::size_t max);

    void start(AttemptKey attempt, StartOrder order);
    void renew(AttemptKey attempt, BootTime lease_until);
    void kill(AttemptKey attempt, Cause cause);
    void answer(AttemptKey attempt, bool committed);
    void reply(AttemptKey attempt, std::uint64_t number, const InsideReply& reply);
    void forget(AttemptKey attempt);
    void stopped_cleanly();
    Containment containment() const { return slots_.containment(); }
    Enforceable enforceable() const { return controllers_.enforceable(); }
    std::shared_ptr<EventQueue> events() { return events_; }

private:
    struct Entry {
        std::shared_ptr<ShimLink> link;  // empty: being prepared, or its shim is gone
        bool preparing = false;
        bool ended = false;              // and said so
        bool forgotten = false;          // goes as soon as its shim is gone
        std::optional<Cause> hard_kill;  // its shim did not obey in time
        std::deque<std::uint64_t> asks;  // numbers, the oldest first
        std::string cgroup;              // its slot; empty: none
        bool limited = false;            // its groups and its slot may have limits
    };
    // How an attempt ended whose shim is gone.
    struct Burial {
        AttemptEnd end;
        EvidenceRef evidence;
        bool tree_is_gone = true;
    };

    // ShimLinkOwner
    void on_record(ShimLink& link, const Record& record) override;
    void on_gone(ShimLink& link) override;

    void on_ask(Entry& entry, AttemptKey key, const Record& record);
    void on_progress(AttemptKey key, std::string_view bytes);
    void on_call(AttemptKey key, std::string_view bytes);
    void on_ended(Entry& entry, AttemptKey key, std::string_view text);
    void take_over(const Found& found);
    void log_damaged(const Found& found);
    Surroundings surroundings() const;
    static Task<Result<Order>> order_of(Self self, Assignment assignment);
    bool other_epoch_is_busy(AttemptKey key) const;
    void kill_other_epochs(AttemptKey key);
    static Task<bool> other_epochs_gone(Self self, AttemptKey key);
    void attach(AttemptKey key, ShimEnds ends);
    void kill_hard_after(AttemptKey key, Cause cause, Duration patience);
    void bury(AttemptKey key);
    void buried(AttemptKey key, Burial burial);
    void has_ended(Entry& entry, AttemptKey key, AttemptEnd end, EvidenceRef evidence);
    void remove(AttemptKey key);
    Result<void> give_limits(const Resources& asked, Order& order);
    void free_slot(Entry& entry, AttemptKey key);
    Entry* find(AttemptKey key);
    ShimLink* link_of(AttemptKey key);
    void push(ProcessEvent event) { events_->push(std::move(event)); }

    Executor executor_;
    HostOptions options_;
    Log log_;
    bool closed_ = false;
    std::shared_ptr<StateFolder> folder_;
    std::map<AttemptKey, Entry> attempts_;
    CgroupSlots slots_;
    Controllers controllers_;
    std::shared_ptr<EventQueue> events_;
    boost::asio::thread_pool pool_{2};
};

}  // namespace perdure
