#include "store/sqlite/db/idle_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "store/engine/failure.h"
#include "store/engine/rows/bytes.h"
#include "store/sqlite/damage/copies.h"
#include "store/sqlite/db/durable_file.h"

namespace perdure::store::sqlite {
namespace {

constexpr std::size_t page_size = 4'096;
constexpr std::size_t half_size = page_size / 2;
constexpr int pages = 2;
constexpr std::uint64_t note_form = 1;
using Page = std::array<char, page_size>;

std::string encode_note(const IdleNote& note) {
    ByteWriter out;
    out.number(note_form);
    out.number(note.base.tick);
    out.number(note.base.servers_used);
    out.text(encode_copy(note.service));
    out.number(note.sessions.size());
    for (const auto& s : note.sessions) {
        for (const auto number : {s.id.value, s.heartbeat, s.content_hash, s.renewal})
            out.number(number);
        out.at(s.lease_deadline);
        out.at(s.heard_at);
    }
    return out.take();
}

IdleNote decode_note(std::string_view bytes) {
    ByteReader in(bytes);
    if (in.number() != note_form) fail_corrupt("an idle note is in a form that is not known");
    IdleNote note{.base = {}, .service = {}, .sessions = {}};
    note.base.tick = in.number();
    note.base.servers_used = in.number();
    decode_copy(in.text(), note.service);
    for (auto left = in.count(); left > 0; --left) {
        HeardSession s;
        s.id = SessionId{in.id()};
        for (auto* number : {&s.heartbeat, &s.content_hash, &s.renewal}) *number = in.number();
        s.lease_deadline = in.at<ServiceTime>();
        s.heard_at = in.at<ServiceTime>();
        note.sessions.push_back(s);
    }
    in.end();
    return note;
}

// Its length, its checksum, and the note. Empty if there is no room for it.
std::optional<Page> page_of(const IdleNote& note, int number) {
    const auto body = encode_note(note);
    const auto length = static_cast<std::uint32_t>(body.size());
    const auto checksum = checksum_of(number, body);
    if (sizeof length + sizeof checksum + body.size() > half_size) return std::nullopt;
    Page page{};
    for (char* at : {page.data(), page.data() + half_size}) {
        std::memcpy(at, &length, sizeof length);
        std::memcpy(at + sizeof length, &checksum, sizeof checksum);
        std::memcpy(at + sizeof length + sizeof checksum, body.data(), body.size());
    }
    return page;
}

// Empty if it is not good.
std::optional<IdleNote> note_in(const char* half, int number) {
    std::uint32_t length = 0;
    std::int64_t checksum = 0;
    std::memcpy(&length, half, sizeof length);
    std::memcpy(&checksum, half + sizeof length, sizeof checksum);
    constexpr auto head = sizeof length + sizeof checksum;
    if (length == 0 || length > half_size - head) return std::nullopt;
    const std::string_view body(half + head, length);
    if (checksum_of(number, body) != checksum) return std::nullopt;
    try {
        return decode_note(body);
    } catch (const Failure&) {
        return std::nullopt;
    }
}

// Its pages are there, so that writing one changes nothing else on the disk.
int open_file(const std::string& path) {
    const bool is_new = !is_there(path);
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return -1;
    const Page empty{};
    bool is_good = true;
    for (int i = 0; is_new && i < pages; ++i)
        is_good &= ::pwrite(file, empty.data(), page_size, i * off_t{page_size}) ==
                   static_cast<ssize_t>(page_size);
    const auto folder = std::filesystem::path(path).parent_path().string();
    if (is_new) is_good = is_good && sync_path(path) && sync_path(folder.empty() ? "." : folder);
    if (is_good) return file;
    ::close(file);
    ::unlink(path.c_str());
    return -1;
}

}  // namespace

IdleFile::IdleFile(const std::string& path) : path_(path), file_(open_file(path)) {
    Page page;
    for (int i = 0; file_ >= 0 && i < pages; ++i) {
        if (::pread(file_, page.data(), page_size, i * off_t{page_size}) !=
            static_cast<ssize_t>(page_size))
            continue;
        auto note = note_in(page.data(), i);
        if (!note) note = note_in(page.data() + half_size, i);
        if (!note) continue;
        const bool is_newest =
            found_.empty() || found_.back().service.clock.tick < note->service.clock.tick;
        if (is_newest) next_page_ = (i + 1) % pages;
        found_.insert(is_newest ? found_.end() : found_.begin(), std::move(*note));
    }
}

IdleFile::~IdleFile() {
    if (file_ >= 0) ::close(file_);
}

void IdleFile::keep_what_goes_with(const ServiceRow& stored) {
    const std::lock_guard lock(mutex_);
    for (auto& note : std::exchange(found_, {})) note_ = std::move(note);
    if (note_ && note_->base != base_of(stored)) note_.reset();
}

bool IdleFile::write(const IdleNote& note) {
    const auto page = page_of(note, next_page_);
    if (file_ < 0 || !page) return false;
    const auto written = ::pwrite(file_, page->data(), page_size, next_page_ * off_t{page_size});
    if (written != static_cast<ssize_t>(page_size)) return false;
    if (::fdatasync(file_) != 0)
        throw Failure{error(Errc::unavailable, fmt::format("the disk failed: {} cannot be synced: "
                                                           "{}",
                                                           path_, std::strerror(errno))),
                      true};
    next_page_ = (next_page_ + 1) % pages;
    const std::lock_guard lock(mutex_);
    note_ = note;
    return true;
}

void IdleFile::add_to(ServiceRow& row) const {
    const std::lock_guard lock(mutex_);
    if (note_ && row.clock.tick < note_->service.clock.tick) row = note_->service;
}

void IdleFile::add_to(SessionRow& row) const {
    const std::lock_guard lock(mutex_);
    if (!note_) return;
    for (const auto& heard : note_->sessions) store::add_to(row, heard);
}

std::vector<SessionId> IdleFile::heard() const {
    const std::lock_guard lock(mutex_);
    std::vector<SessionId> sessions;
    if (!note_) return sessions;
    for (const auto& heard : note_->sessions) sessions.push_back(heard.id);
    return sessions;
}

}  // namespace perdure::store::sqlite
