#include "platform/audit_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <deque>

#include "wire/json_writer.h"
#include "wire/text_time.h"

namespace perdure {
namespace {

constexpr unsigned unauthenticated_status = 401;
constexpr unsigned forbidden_status = 403;
constexpr std::int64_t second_us = 1'000'000;

bool is_refusal(unsigned status) {
    return status == unauthenticated_status || status == forbidden_status;
}

}  // namespace

AuditFile::AuditFile(std::string directory, AuditBounds bounds)
    : directory_(std::move(directory)), bounds_(bounds) {
    open_current();
}

std::string AuditFile::path(int number) const {
    if (number == 0) return directory_ + "/audit.jsonl";
    return fmt::format("{}/audit.{}.jsonl", directory_, number);
}

void AuditFile::open_current() {
    file_.reset(::open(path(0).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
                       S_IRUSR | S_IWUSR));
    struct stat about {};
    size_ =
        file_ && ::fstat(file_.get(), &about) == 0 ? static_cast<std::size_t>(about.st_size) : 0;
}

void AuditFile::rotate(WallTime now) {
    ::unlink(path(bounds_.files - 1).c_str());
    for (int number = bounds_.files - 2; number >= 0; --number) {
        struct stat about {};
        const auto from = path(number);
        if (::stat(from.c_str(), &about) != 0) continue;
        const bool is_old = now.us / second_us - about.st_mtime > bounds_.age.us / second_us;
        if (is_old && number > 0)
            ::unlink(from.c_str());
        else
            ::rename(from.c_str(), path(number + 1).c_str());
    }
    open_current();
}

bool AuditFile::has_budget(const AuditRecord& record) {
    if (!is_refusal(record.status)) return true;
    const auto second = record.at.us / second_us;
    if (second != second_) refusals_ = 0;
    second_ = second;
    if (++refusals_ <= bounds_.refusals_per_second) return true;
    ++left_out_;
    return false;
}

std::string AuditFile::line_of(const AuditRecord& record) {
    std::string line;
    JsonWriter out(line);
    out.begin_object();
    out.field("at", time_text(record.at));
    out.field("who", record.who);
    out.field("action", record.action);
    if (!record.subject.empty()) out.field("subject", record.subject);
    out.field("status", record.status);
    out.field("rule", record.rule);
    if (left_out_ > 0) out.field("refusals_left_out", left_out_);
    out.end_object();
    left_out_ = 0;
    return line + "\n";
}

void AuditFile::append(const AuditRecord& record) {
    if (!has_budget(record)) return;
    const auto line = line_of(record);
    if (size_ + line.size() > bounds_.file_max) rotate(record.at);
    if (file_ && write_all(file_.get(), line) == 0) size_ += line.size();
}

std::vector<std::string> AuditFile::newest(std::size_t count, std::string_view word) {
    std::deque<std::string> lines;
    for (int number = 0; number < bounds_.files && lines.size() < count; ++number) {
        const auto text =
            read_file(AT_FDCWD, path(number).c_str(), bounds_.file_max * 2).value_or("");
        std::string_view rest(text);
        while (!rest.empty() && lines.size() < count) {
            rest.remove_suffix(rest.ends_with('\n') ? 1 : 0);
            const auto before = rest.rfind('\n');
            const auto line = before == std::string_view::npos ? rest : rest.substr(before + 1);
            const bool fits = line.find(word) != std::string_view::npos;
            if (!line.empty() && fits) lines.emplace_front(line);
            rest = before == std::string_view::npos ? "" : rest.substr(0, before + 1);
        }
    }
    return {lines.begin(), lines.end()};
}

}  // namespace perdure
