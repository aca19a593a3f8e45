// AuditFile: the audit log in the folder `audit` of the data directory. Two series of files: what
// was done, and what was refused, which strangers cause: they cannot push out what matters.
//   The loop that appends never waits for the disk: a thread writes what has gathered.
//   A disk that is full or slow: lines wait in memory, so many of them, and are tried again each
//   second. What comes when there is no room is lost. That is counted, is in the process' log at
//   once, and in the audit log itself as soon as it can be written.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>

#include "base/log.h"
#include "platform/audit_series.h"
#include "platform/blocking_thread.h"
#include "ports/access.h"

namespace perdure {

struct AuditOptions {
    AuditBounds acts = {};
    AuditBounds refusals = {.bytes_max = std::uint64_t{64} << 20};
    std::size_t waiting_max = std::size_t{4} << 20;  // bytes of a series, in memory
    unsigned refusals_per_second = 10;
    Duration gather = milliseconds(5);  // so long for one write
    Duration tell_every = minutes(1);   // what was added up
    std::size_t counted_max = 1'000;    // different ones
    std::size_t page_bytes = 0;         // 0: as usual
};

class AuditFile final : public AuditLog {
public:
    // unavailable: the folder cannot be used.
    static Result<std::unique_ptr<AuditFile>> open(const std::string& directory, Log log,
                                                   AuditOptions options = {});
    // Writes what waits; what cannot be written is said in the process' log.
    ~AuditFile() override;

    void append(const AuditRecord& record) override;
    void count(std::string_view who, std::string_view action, unsigned status) override;
    // It has what was appended before, unless the disk is slow.
    Task<Result<AuditPage>> read(AuditQuery query) override;
    AuditCounts counts() const override;

    // Returns when all that was appended before was tried once; after two seconds at most.
    void run_ready();

private:
    // Lines that wait, in the order of their numbers.
    struct Waiting {
        std::string lines;
        std::uint64_t first = 0;
    };
    struct Kind {
        std::string who;
        std::string action;
        unsigned status = 0;
    };
    // Looked up for each submit: without making strings.
    struct InOrder {
        using is_transparent = void;
        using View = std::tuple<std::string_view, std::string_view, unsigned>;
        static View view(const Kind& kind) { return {kind.who, kind.action, kind.status}; }
        static const View& view(const View& view) { return view; }
        bool operator()(const auto& a, const auto& b) const { return view(a) < view(b); }
    };
    // What has its line when it is told.
    struct Untold {
        std::map<Kind, std::uint64_t, InOrder> counted;
        std::uint64_t refusals_left_out = 0;
        std::uint64_t lost = 0;
        std::uint64_t files_cut = 0;
        bool any() const { return !counted.empty() || refusals_left_out + lost + files_cut > 0; }
    };
    enum Series { acts, refusals, series_count };

    AuditFile(Fd directory, Log log, AuditOptions options);
    void run();
    void write(std::unique_lock<std::mutex>& lock);
    bool write_series(Series which, std::unique_lock<std::mutex>& lock);
    void note_failure(int failed);
    void note_cut(Series which, std::uint64_t files);
    // With the mutex held:
    bool has_budget(const AuditRecord& record);
    bool add(Series which, const AuditRecord& record, std::uint64_t count);  // if there is room
    void note_lost(const AuditRecord& record);
    void report();

    Fd directory_;
    Log log_;
    AuditOptions options_;
    AuditSeries files_[series_count];  // the writer's
    mutable std::mutex mutex_;
    std::condition_variable wake_;     // the writer
    std::condition_variable settled_;  // whoever waits for it
    Waiting waiting_[series_count];
    Waiting writing_[series_count];  // taken by the writer; stays until it is written
    Untold untold_;
    AuditCounts counts_;
    std::uint64_t number_ = 0;  // of the last line
    std::int64_t second_ = 0;   // of the last refusal
    unsigned refusals_ = 0;     // in that second
    bool fails_ = false;        // the last write has failed
    bool said_lost_ = false;    // in the process' log, since then
    bool stopping_ = false;
    std::uint64_t wanted_turn_ = 0;
    std::uint64_t done_turn_ = 0;
    BlockingThread reads_{BlockingThread::Kind::thread, 100};
    std::thread writer_;
};

}  // namespace perdure
