// Dispatcher: gives ready jobs to the sessions whose streams end here. When its alarm rings it
// claims for every session that is not known to be full; when an attempt has ended, or a session is
// attached, for that session alone. All notifications may be lost [P7]: while there is work, the
// ticker rings in any case, and a session that was full is claimed for again after a while.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/log.h"
#include "ports/clock.h"
#include "ports/gate.h"
#include "server/group_commit.h"
#include "wire/worker_protocol.h"

namespace perdure {

// The server's end of one stream down to a worker.
class Outbox {
public:
    virtual ~Outbox() = default;
    virtual void send(StreamMessage message) = 0;
    virtual void close() = 0;
};

class Dispatcher final : public WorkListener {
public:
    // For one session in one transaction. A commit costs a sync however small it is: a worker with
    // thousands of slots is filled by a few of them. The store gives fewer if they are of few
    // lines.
    static constexpr std::uint32_t claim_max = 4'000;

    Dispatcher(Clock& clock, GroupCommit& commits, Log log);

    Task<void> run(Stop& stop);
    void attach(SessionId session, std::uint64_t stream, std::shared_ptr<Outbox> outbox);
    // The stream is over: nothing more is claimed for it.
    void detach(SessionId session, std::uint64_t stream);
    // A hint to the session's worker; heartbeats carry the same. False: its stream ends elsewhere.
    bool send(SessionId session, StreamMessage message);
    void close_all();
    // Rung when there may be work for anybody.
    Alarm& alarm() { return for_all_; }
    // A slot of this session is about to be free: what is next can be claimed by the same commit.
    void expect_room(SessionId session);
    // WorkListener.
    void note(const CommittedWork& work) override;
    void wake() override { for_all_.ring(); }

private:
    struct Attached {
        std::uint64_t stream = 0;
        std::shared_ptr<Outbox> outbox;
        bool is_asked_for = false;  // by the next claims
        bool is_full = false;       // as far as the last claim tells
    };
    class ForAll final : public Alarm {
    public:
        explicit ForAll(std::unique_ptr<Alarm> alarm) : alarm_(std::move(alarm)) {}
        Task<void> wait(Duration longest) override { return alarm_->wait(longest); }
        void ring() override {
            has_rung_ = true;
            alarm_->ring();
        }
        void ring_for_some() { alarm_->ring(); }
        bool take() { return std::exchange(has_rung_, false); }

    private:
        std::unique_ptr<Alarm> alarm_;
        bool has_rung_ = false;
    };
    using Asked = std::vector<std::pair<SessionId, std::uint64_t>>;  // session, stream

    void ask_for_all();
    Asked take_asked();
    Task<bool> claim();
    bool take_reply(SessionId session, std::uint64_t stream, ChangeReply& reply);

    Clock& clock_;
    GroupCommit& commits_;
    Log log_;
    ForAll for_all_;
    std::map<SessionId, Attached> attached_;
    std::uint64_t turn_ = 0;
    BootTime asked_for_full_at_;
};

}  // namespace perdure
