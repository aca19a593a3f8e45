#include "shim/output_log.h"

#include <algorithm>
#include <array>

#include "shim/format/attempt_files.h"

namespace perdure {
namespace {

// Where the last lines of a text begin. The newline at its end ends the last one.
std::size_t begin_of_last(std::string_view text, std::size_t lines) {
    auto at = text.size();
    if (at > 0 && text.back() == '\n') --at;
    while (at > 0) {
        const auto newline = text.rfind('\n', at - 1);
        if (newline == std::string_view::npos) return 0;
        if (--lines == 0) return newline + 1;
        at = newline;
    }
    return 0;
}

}  // namespace

bool OutputLog::open_file(Fd& file, const char* name, int flags) {
    if (!file)
        file.reset(::openat(directory_, name, flags | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    return static_cast<bool>(file);
}

void OutputLog::add(std::string_view bytes) {
    printed_ += bytes.size();
    const auto room = std::min<std::uint64_t>(head_max() - head_, bytes.size());
    append(bytes.substr(0, room));
    head_ += room;
    put_tail(bytes.substr(room));
}

void OutputLog::append(std::string_view bytes) {
    if (bytes.empty()) return;
    if (!open_file(head_file_, attempt_files::output, O_RDWR | O_APPEND) ||
        write_all(head_file_.get(), bytes) != 0)
        lost_ += bytes.size();
}

void OutputLog::put_tail(std::string_view bytes) {
    const auto room = tail_max();
    if (bytes.empty()) return;
    if (room == 0) {
        tail_ += bytes.size();
        return;
    }
    if (bytes.size() > room) {
        tail_ += bytes.size() - room;
        bytes.remove_prefix(bytes.size() - room);
    }
    const auto at = tail_ % room;
    const auto before_the_end = bytes.substr(0, room - at);
    put_tail_at(at, before_the_end);
    put_tail_at(0, bytes.substr(before_the_end.size()));
    tail_ += bytes.size();
}

void OutputLog::put_tail_at(std::uint64_t at, std::string_view bytes) {
    if (bytes.empty()) return;
    if (!open_file(tail_file_, attempt_files::output_tail, O_RDWR)) lost_ += bytes.size();
    while (tail_file_ && !bytes.empty()) {
        const auto done =
            ::pwrite(tail_file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) {
            lost_ += bytes.size();
            return;
        }
        bytes.remove_prefix(static_cast<std::size_t>(done));
        at += static_cast<std::uint64_t>(done);
    }
}

void OutputLog::finish() {
    const auto room = tail_max();
    if (left_out() > 0) append("\n[perdure: " + std::to_string(left_out()) + " bytes left out]\n");
    if (left_out() > 0 && room > 0) {
        append_tail(tail_ % room, room);
        append_tail(0, tail_ % room);
    } else {
        append_tail(0, tail_);
    }
    if (lost_ > 0)
        append("\n[perdure: " + std::to_string(lost_) + " bytes could not be written]\n");
    if (tail_file_) ::unlinkat(directory_, attempt_files::output_tail, 0);
    tail_file_.reset();
}

void OutputLog::append_tail(std::uint64_t from, std::uint64_t to) {
    std::array<char, 16 * 1024> block;
    while (tail_file_ && from < to) {
        const auto wanted = std::min<std::uint64_t>(block.size(), to - from);
        const auto got = ::pread(tail_file_.get(), block.data(), wanted, static_cast<off_t>(from));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return;
        append({block.data(), static_cast<std::size_t>(got)});
        from += static_cast<std::uint64_t>(got);
    }
}

std::string OutputLog::last_lines(std::size_t bytes_max, std::size_t lines_max) const {
    struct stat about {};
    if (!head_file_ || ::fstat(head_file_.get(), &about) != 0) return {};
    const auto size = static_cast<std::uint64_t>(about.st_size);
    const auto from = size > bytes_max ? size - bytes_max : 0;
    std::string text(static_cast<std::size_t>(size - from), '\0');
    const auto got = ::pread(head_file_.get(), text.data(), text.size(), static_cast<off_t>(from));
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    const auto first_line_end = text.find('\n');
    if (from > 0 && first_line_end != std::string::npos && first_line_end + 1 < text.size())
        text.erase(0, first_line_end + 1);
    text.erase(0, begin_of_last(text, lines_max));
    return text;
}

}  // namespace perdure
