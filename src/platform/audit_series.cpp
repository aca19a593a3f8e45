#include "platform/audit_series.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>

#include "wire/text_time.h"

namespace perdure {
namespace {

constexpr std::string_view line_begin = "{\"seq\":";
constexpr std::size_t tail_max = std::size_t{64} << 10;
constexpr int aged_files_at_once = 2;  // a clock that jumps must not empty the log
constexpr std::size_t day_length = 10;
constexpr std::size_t number_length = 12;

std::string day_of(WallTime at) { return time_text(at).substr(0, day_length); }

std::optional<std::uint64_t> number_in(std::string_view digits) {
    std::uint64_t number = 0;
    const auto* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, number);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    return number;
}

// SERIES-2026-11-19-000000000042.jsonl
std::optional<AuditFileName> read_name(std::string_view text, std::string_view series) {
    AuditFileName name{.text = std::string(text)};
    if (!text.starts_with(series) || !text.ends_with(".jsonl")) return std::nullopt;
    text.remove_prefix(series.size());
    text.remove_suffix(std::string_view(".jsonl").size());
    const bool has_form = text.size() >= day_length + 2 + number_length && text[0] == '-' &&
                          text[day_length + 1] == '-';
    if (!has_form) return std::nullopt;
    const auto day = time_value(std::string(text.substr(1, day_length)) + "T00:00:00Z");
    const auto first = number_in(text.substr(day_length + 2));
    if (!day || !first) return std::nullopt;
    name.day = *day;
    name.first = *first;
    return name;
}

}  // namespace

std::optional<std::uint64_t> audit_number(std::string_view line) {
    if (!line.starts_with(line_begin) || !line.ends_with('}')) return std::nullopt;
    line.remove_prefix(line_begin.size());
    return number_in(line.substr(0, line.find_first_not_of("0123456789")));
}

std::deque<AuditFileName> audit_files(int directory, std::string_view series) {
    std::deque<AuditFileName> files;
    const int listed = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* entries = listed < 0 ? nullptr : ::fdopendir(listed);
    if (!entries) return files;
    while (const auto* entry = ::readdir(entries))
        if (auto name = read_name(entry->d_name, series)) files.push_back(std::move(*name));
    ::closedir(entries);
    std::sort(files.begin(), files.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    return files;
}

AuditSeries::AuditSeries(int directory, std::string name, AuditBounds bounds)
    : directory_(directory), name_(std::move(name)), bounds_(bounds) {
    for (auto& file : audit_files(directory_, name_)) {
        struct stat about {};
        if (::fstatat(directory_, file.text.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
        newest_ = std::max(newest_, file.first);
        files_.push_back({std::move(file), static_cast<std::uint64_t>(about.st_size)});
    }
    if (!files_.empty()) open_newest();
}

// What a power loss has torn ends with a line feed of its own, so that the next line is whole. If
// no number can be read there are fewer lines than bytes.
void AuditSeries::open_newest() {
    auto& newest = files_.back();
    file_.reset(
        ::openat(directory_, newest.name.text.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW));
    if (!file_) return;
    const auto from = newest.bytes - std::min<std::uint64_t>(newest.bytes, tail_max);
    std::string tail(static_cast<std::size_t>(newest.bytes - from), '\0');
    const auto got = ::pread(file_.get(), tail.data(), tail.size(), static_cast<off_t>(from));
    tail.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    if (!tail.empty() && !tail.ends_with('\n') && write_all(file_.get(), "\n") == 0) {
        ++newest.bytes;
        tail += '\n';
    }
    std::optional<std::uint64_t> last;
    for (std::string_view rest = tail; !rest.empty() && !last;) {
        rest.remove_suffix(1);
        const auto before = rest.rfind('\n');
        last = audit_number(rest.substr(before == rest.npos ? 0 : before + 1));
        rest = before == rest.npos ? "" : rest.substr(0, before + 1);
    }
    newest_ = std::max(newest_, last.value_or(newest.name.first + newest.bytes));
}

std::uint64_t AuditSeries::bytes() const {
    std::uint64_t sum = 0;
    for (const auto& file : files_) sum += file.bytes;
    return sum;
}

int AuditSeries::begin_file(std::uint64_t first, WallTime now) {
    const auto text = fmt::format("{}-{}-{:0{}}.jsonl", name_, day_of(now), first, number_length);
    file_.reset(::openat(directory_, text.c_str(),
                         O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
                         S_IRUSR | S_IWUSR));
    if (!file_) return errno;
    files_.push_back({*read_name(text, name_), 0});
    return 0;
}

int AuditSeries::append(std::string_view lines, std::uint64_t first, WallTime now) {
    const bool is_of_today = !files_.empty() && day_of(files_.back().name.day) == day_of(now);
    const bool has_room = !files_.empty() && files_.back().bytes + lines.size() <= bounds_.file_max;
    if (!file_ || !is_of_today || !has_room) {
        if (file_) sync();
        if (const int failed = begin_file(first, now)) return failed;
    }
    if (const int failed = write_all(file_.get(), lines)) {
        // Half of it would be read, and then come again.
        if (::ftruncate(file_.get(), static_cast<off_t>(files_.back().bytes)) != 0) file_.reset();
        return failed;
    }
    files_.back().bytes += lines.size();
    return 0;
}

std::uint64_t AuditSeries::remove_old(WallTime now) {
    std::uint64_t cut = 0;
    int aged = 0;
    while (files_.size() > 1) {
        const auto& oldest = files_.front();
        // Its newest line may be of the day on which the next file was begun.
        const bool is_old = now - files_[1].name.day > bounds_.age + days(1);
        const bool is_too_much = bytes() > bounds_.bytes_max;
        if (!is_too_much && (!is_old || aged == aged_files_at_once)) break;
        if (::unlinkat(directory_, oldest.name.text.c_str(), 0) != 0 && errno != ENOENT) break;
        if (is_old)
            ++aged;
        else
            ++cut;
        files_.pop_front();
    }
    return cut;
}

void AuditSeries::sync() {
    if (file_) ::fdatasync(file_.get());
}

}  // namespace perdure
