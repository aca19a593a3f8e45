#include "processes/disk/attempt_directory.h"

#include <dirent.h>
#include <string.h>
#include <sys/file.h>

#include <memory>

#include "processes/disk/posix.h"
#include "shim/format/attempt_files.h"
#include "shim/format/records.h"

namespace perdure {
namespace {

namespace files = attempt_files;

Fd open_attempt(const StateFolder& folder, const std::string& name) {
    return Fd(
        ::openat(folder.attempts(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
}

// What the job itself reads belongs to its user.
int write_for_the_job(int directory, const char* name, const std::string& bytes,
                      const Order& order) {
    if (bytes.empty()) return 0;
    if (const int failed = files::write_plainly(directory, name, bytes)) return failed;
    if (!order.become) return 0;
    const auto& who = *order.become;
    return ::fchownat(directory, name, who.uid, who.gid, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno;
}

int write_files(int directory, const Order& order, const AttemptInput& input) {
    const std::pair<const char*, const std::string&> for_the_job[] = {
        {files::args, input.args},
        {files::checkpoint, input.checkpoint},
        {files::inputs, input.inputs}};
    for (const auto& [name, bytes] : for_the_job)
        if (const int failed = write_for_the_job(directory, name, bytes, order)) return failed;
    // A job of another user passes through, and sees no names.
    if (::fchmod(directory, order.become ? 0711 : 0700) != 0) return errno;
    if (const int failed = files::write_plainly(directory, files::order_draft, to_text(order)))
        return failed;
    return ::renameat(directory, files::order_draft, directory, files::order) == 0 ? 0 : errno;
}

// The order matters after a power loss only, and only if somebody then draws conclusions from what
// is not there: for attempts that ask (see Shim::write_started).
// Once it has its name: so one commit of the file system's journal is enough for all three.
int make_durable(const StateFolder& folder, int directory) {
    if (const int failed = files::sync_file(directory, files::order)) return failed;
    if (::fsync(directory) != 0 || ::fsync(folder.attempts()) != 0) return errno;
    return 0;
}

bool exists(int directory, const char* name) {
    struct stat about {};
    return ::fstatat(directory, name, &about, AT_SYMLINK_NOFOLLOW) == 0;
}

std::optional<FoundAttempt> read_attempt(const StateFolder& folder, const std::string& name) {
    const auto key = attempt_named(name);
    const auto directory = open_attempt(folder, name);
    const auto text =
        key && directory ? read_file(directory.get(), files::order, order_max) : std::nullopt;
    if (!text) return std::nullopt;
    const auto order = parse_order(*text);
    if (!order || order->attempt != *key) return std::nullopt;
    FoundAttempt found;
    found.cgroup = order->cgroup;
    found.other_boot = order->boot != folder.identity().boot;
    found.on_disk = {.attempt = *key,
                     .assignment = order->assignment,
                     .life = order->life,
                     .policy = order->policy,
                     .terms = order->terms};
    found.on_disk.shim_alive = is_locked(folder, name);
    // Read after the lock: a shim that ends in between has left its result.
    // One that starts at once does not sync `started`: after a reboot it may have been lost.
    const bool may_be_lost = found.other_boot && !order->terms.asks;
    found.on_disk.started = exists(directory.get(), files::started) || may_be_lost;
    if (auto result = read_result(folder, *key)) {
        found.on_disk.result = result->end;
        found.on_disk.evidence = result->evidence;
    }
    return found;
}

}  // namespace

std::string directory_name(AttemptKey attempt) {
    return attempt.job.text() + "." + std::to_string(attempt.epoch.value);
}

std::optional<AttemptKey> attempt_named(std::string_view name) {
    const auto dot = name.find('.');
    const auto job = JobId::parse(name.substr(0, dot));
    if (!job || dot == std::string_view::npos) return std::nullopt;
    const auto epoch = number_in<std::uint32_t>(name.substr(dot + 1));
    if (!epoch) return std::nullopt;
    const AttemptKey key{*job, {*epoch}};
    if (directory_name(key) != name) return std::nullopt;
    return key;
}

Result<Fd> make_attempt(StateFolder& folder, const Order& order, const AttemptInput& input) {
    auto spare = folder.spares().take();
    if (!spare) return spare.error();
    const auto name = directory_name(order.attempt);
    int failed = write_files(spare->directory.get(), order, input);
    if (failed)
        folder.spares().discard(spare->name);
    else
        failed = folder.spares().publish(*spare, folder.attempts(), name);
    if (!failed && order.terms.asks) {
        failed = make_durable(folder, spare->directory.get());
        if (failed) remove_attempt(folder, order.attempt);
    }
    if (!failed) return std::move(spare->directory);
    if (failed == ENOTEMPTY || failed == EEXIST)
        return error(Errc::conflict, "the attempt's directory exists");
    return os_error("attempt's directory", failed);
}

Found find_attempts(const StateFolder& folder) {
    Found found;
    const int copy = ::openat(folder.attempts(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const auto entries = open_directory(copy);
    if (!entries) return found;
    while (const auto* entry = ::readdir(entries.get())) {
        const std::string name = entry->d_name;
        if (name == "." || name == "..") continue;
        auto attempt = read_attempt(folder, name);
        if (attempt)
            found.attempts.push_back(std::move(*attempt));
        else
            found.damaged.push_back(name);
    }
    return found;
}

bool is_locked(const StateFolder& folder, const std::string& name) {
    const auto directory = open_attempt(folder, name);
    return directory && ::flock(directory.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

Result<ReadResult> read_result(const StateFolder& folder, AttemptKey attempt) {
    const auto directory = open_attempt(folder, directory_name(attempt));
    const auto text = directory ? read_file(directory.get(), files::result, files::result_file_max)
                                : std::nullopt;
    if (!text) return error(Errc::not_found, "no result.json");
    return parse_result(*text);
}

Result<std::string> read_output(const StateFolder& folder, AttemptKey attempt, std::uint64_t offset,
                                std::size_t max) {
    const auto path = directory_name(attempt) + "/" + files::output;
    const Fd file(::openat(folder.attempts(), path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file && errno == ENOENT) return std::string();  // it has printed nothing
    if (!file) return os_error("output", errno);
    std::string text(max, '\0');
    const auto got = ::pread(file.get(), text.data(), max, static_cast<off_t>(offset));
    if (got < 0) return os_error("output", errno);
    text.resize(static_cast<std::size_t>(got));
    return text;
}

bool has_started(const StateFolder& folder, AttemptKey attempt) {
    const auto path = directory_name(attempt) + "/" + files::started;
    return exists(folder.attempts(), path.c_str());
}

bool remove_attempt(StateFolder& folder, AttemptKey attempt) {
    return folder.spares().recycle(folder.attempts(), directory_name(attempt));
}

}  // namespace perdure
