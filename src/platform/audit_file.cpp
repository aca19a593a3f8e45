#include "platform/audit_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "platform/audit_pages.h"
#include "platform/system_time.h"
#include "wire/json_writer.h"
#include "wire/text_time.h"

namespace perdure {
namespace {

constexpr unsigned unauthenticated_status = 401;
constexpr unsigned forbidden_status = 403;
constexpr std::string_view others = "(others)";
constexpr std::int64_t second_us = 1'000'000;
constexpr auto try_again_after = std::chrono::seconds(1);
constexpr auto answer_patience = seconds(2);
constexpr auto sync_every = std::chrono::seconds(5);

bool is_refusal(unsigned status) {
    return status == unauthenticated_status || status == forbidden_status;
}

std::chrono::microseconds of(Duration duration) { return std::chrono::microseconds(duration.us); }

std::string line_of(std::uint64_t number, const AuditRecord& record, std::uint64_t count) {
    std::string line;
    JsonWriter out(line);
    out.begin_object();
    out.field("seq", number);
    out.field("at", time_text(record.at));
    out.field("who", record.who);
    out.field("action", record.action);
    if (!record.subject.empty()) out.field("subject", record.subject);
    if (record.status != 0) out.field("status", record.status);
    if (!record.rule.empty()) out.field("rule", record.rule);
    if (count > 0) out.field("count", count);
    out.end_object();
    return line + "\n";
}

Error unusable(const std::string& path) {
    return error(Errc::unavailable,
                 fmt::format("{}: the audit log cannot be kept there: {}", path, strerror(errno)));
}

}  // namespace

Result<std::unique_ptr<AuditFile>> AuditFile::open(const std::string& directory, Log log,
                                                   AuditOptions options) {
    const auto path = directory + "/audit";
    if (::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST) return unusable(path);
    Fd opened(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!opened) return unusable(path);
    return std::unique_ptr<AuditFile>(new AuditFile(std::move(opened), std::move(log), options));
}

AuditFile::AuditFile(Fd directory, Log log, AuditOptions options)
    : directory_(std::move(directory)),
      log_(std::move(log)),
      options_(options),
      files_{{directory_.get(), "acts", options.acts},
             {directory_.get(), "refusals", options.refusals}} {
    number_ = std::max(files_[acts].newest(), files_[refusals].newest());
    counts_.bytes = files_[acts].bytes() + files_[refusals].bytes();
    writer_ = std::thread([this] { run(); });
}

AuditFile::~AuditFile() {
    reads_.close();
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_one();
    writer_.join();
    std::ptrdiff_t left = 0;
    for (const auto which : {acts, refusals})
        for (const auto* some : {&waiting_[which], &writing_[which]})
            left += std::count(some->lines.begin(), some->lines.end(), '\n');
    if (left > 0)
        log_.write(Level::critical, "lines of the audit log are lost: it cannot be written",
                   "lines", left);
}

void AuditFile::append(const AuditRecord& record) {
    {
        const std::lock_guard lock(mutex_);
        if (!has_budget(record)) return;
        if (!add(is_refusal(record.status) ? refusals : acts, record, 0)) note_lost(record);
    }
    wake_.notify_one();
}

void AuditFile::count(std::string_view who, std::string_view action, unsigned status) {
    const std::lock_guard lock(mutex_);
    const bool wakes = !untold_.any();
    auto& counted = untold_.counted;
    InOrder::View kind{who, action, status};
    if (counted.size() >= options_.counted_max && !counted.contains(kind))
        std::get<0>(kind) = others;
    const auto found = counted.find(kind);
    if (found != counted.end())
        ++found->second;
    else
        counted.try_emplace({std::string(std::get<0>(kind)), std::string(action), status}, 1);
    if (wakes) wake_.notify_one();
}

bool AuditFile::has_budget(const AuditRecord& record) {
    if (!is_refusal(record.status)) return true;
    const auto second = record.at.us / second_us;
    if (second != second_) refusals_ = 0;
    second_ = second;
    if (++refusals_ <= options_.refusals_per_second) return true;
    ++counts_.refusals_left_out;
    ++untold_.refusals_left_out;
    return false;
}

// The numbers of a series rise; whatever is lost has none.
bool AuditFile::add(Series which, const AuditRecord& record, std::uint64_t count) {
    const auto line = line_of(number_ + 1, record, count);
    auto& waiting = waiting_[which];
    if (waiting.lines.size() + writing_[which].lines.size() + line.size() > options_.waiting_max)
        return false;
    ++number_;
    ++(which == acts ? counts_.acts : counts_.refusals);
    if (waiting.lines.empty()) waiting.first = number_;
    waiting.lines += line;
    return true;
}

void AuditFile::note_lost(const AuditRecord& record) {
    ++counts_.lost;
    ++untold_.lost;
    if (std::exchange(said_lost_, true)) return;
    log_.write(Level::critical, "lines of the audit log are lost: the disk is full or slow",
               "first", record.action, "about", record.subject, "who", record.who);
}

// A line for each of what was only added up. What finds no room is told the next time.
void AuditFile::report() {
    auto untold = std::exchange(untold_, {});
    said_lost_ = false;
    const auto now = wall_now();
    const auto say = [&](const char* what, std::uint64_t& count, std::uint64_t& again) {
        if (count == 0) return;
        if (!add(acts, {.at = now, .who = "(the audit log)", .action = what}, count))
            again += count;
    };
    say("refusals left out: too many in a second", untold.refusals_left_out,
        untold_.refusals_left_out);
    say("lines lost: the disk was full or slow", untold.lost, untold_.lost);
    say("files removed before their time: too many bytes", untold.files_cut, untold_.files_cut);
    for (const auto& [kind, count] : untold.counted) {
        const AuditRecord record{.at = now,
                                 .who = kind.who,
                                 .action = kind.action,
                                 .subject = fmt::format("{} requests", count),
                                 .status = kind.status};
        if (!add(acts, record, count)) untold_.counted[kind] += count;
    }
}

void AuditFile::run() {
    using Clock = std::chrono::steady_clock;
    std::unique_lock lock(mutex_);
    auto tell_at = Clock::time_point::max();
    auto synced_at = Clock::time_point::min();
    auto sync_at = Clock::time_point::max();
    const auto waits = [this] {
        return !waiting_[acts].lines.empty() || !waiting_[refusals].lines.empty();
    };
    while (true) {
        if (untold_.any() && tell_at == Clock::time_point::max())
            tell_at = Clock::now() + of(options_.tell_every);
        auto until = std::min(tell_at, sync_at);
        if (fails_) until = std::min(until, Clock::now() + try_again_after);
        const auto is_called = [&] {
            const bool shall_tell = untold_.any() && tell_at == Clock::time_point::max();
            return stopping_ || shall_tell || wanted_turn_ != done_turn_ || (waits() && !fails_);
        };
        if (until == Clock::time_point::max())
            wake_.wait(lock, is_called);
        else
            wake_.wait_until(lock, until, is_called);
        if (waits() && !stopping_ && !fails_)
            wake_.wait_for(lock, of(options_.gather), [this] { return stopping_; });
        const auto turn = wanted_turn_;
        const bool ends = stopping_;  // later than this is the next turn
        if (ends || Clock::now() >= tell_at) {
            report();
            tell_at = Clock::time_point::max();
        }
        const bool any = waits() || fails_;
        write(lock);
        if (any && sync_at == Clock::time_point::max())
            sync_at = std::max(Clock::now(), synced_at + sync_every);
        if (Clock::now() >= sync_at || (ends && any)) {
            lock.unlock();
            for (auto& series : files_) series.sync();
            lock.lock();
            synced_at = Clock::now();
            sync_at = Clock::time_point::max();
        }
        done_turn_ = turn;
        settled_.notify_all();
        if (ends) return;
    }
}

void AuditFile::write(std::unique_lock<std::mutex>& lock) {
    bool all_written = true;
    for (const auto which : {acts, refusals})
        all_written = write_series(which, lock) && all_written;
    if (all_written && std::exchange(fails_, false)) {
        said_lost_ = false;
        log_.write(Level::warn, "the audit log can be written again");
    }
}

// What a failed write has left is tried before what came after it.
bool AuditFile::write_series(Series which, std::unique_lock<std::mutex>& lock) {
    auto& writing = writing_[which];
    while (true) {
        if (writing.lines.empty()) std::swap(writing, waiting_[which]);
        if (writing.lines.empty()) return true;
        lock.unlock();
        const auto now = wall_now();
        const int failed = files_[which].append(writing.lines, writing.first, now);
        const auto cut = files_[which].remove_old(now);
        lock.lock();
        counts_.bytes = files_[acts].bytes() + files_[refusals].bytes();
        if (cut > 0) note_cut(which, cut);
        if (failed) {
            note_failure(failed);
            return false;
        }
        writing.lines.clear();
    }
}

void AuditFile::note_failure(int failed) {
    if (std::exchange(fails_, true)) return;
    log_.write(Level::error, "the audit log cannot be written: its lines wait in memory", "why",
               strerror(failed));
}

void AuditFile::note_cut(Series which, std::uint64_t files) {
    counts_.files_cut += files;
    untold_.files_cut += files;
    log_.write(which == acts ? Level::error : Level::warn,
               "the audit log is too large: its oldest lines went before their time", "series",
               which == acts ? "acts" : "refusals", "files", files);
}

Task<Result<AuditPage>> AuditFile::read(AuditQuery query) {
    auto call = [this, query = std::move(query)]() -> Result<AuditPage> {
        run_ready();
        const auto bytes = options_.page_bytes == 0 ? audit_page_bytes : options_.page_bytes;
        return read_audit_page(directory_.get(), query, bytes);
    };
    co_return co_await reads_.ask(std::move(call), [](auto answer) { answer->give(); });
}

AuditCounts AuditFile::counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
}

void AuditFile::run_ready() {
    std::unique_lock lock(mutex_);
    const auto turn = ++wanted_turn_;
    wake_.notify_one();
    settled_.wait_for(lock, of(answer_patience), [&] { return done_turn_ >= turn; });
}

}  // namespace perdure
