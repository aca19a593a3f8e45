#include "processes/disk/state_folder.h"

#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include <charconv>
#include <ctime>
#include <filesystem>
#include <string_view>

#include "platform/trusted_path.h"
#include "processes/disk/posix.h"
#include "shim/clocks.h"
#include "shim/format/attempt_files.h"
#include "shim/format/records.h"

namespace perdure {
namespace {

constexpr auto directory_word = "state directory of a worker";
constexpr auto life_name = "life";
constexpr auto folder_lock_patience = milliseconds(500);

std::string first_line(const char* path) {
    const auto text = read_file(AT_FDCWD, path, 4096);
    if (!text) return {};
    const std::string_view all(*text);
    return std::string(all.substr(0, all.find('\n')));
}

std::string machine_id() {
    auto id = first_line("/etc/machine-id");
    if (id.empty()) id = first_line("/var/lib/dbus/machine-id");
    if (!id.empty()) return id;
    char name[256] = {};
    ::gethostname(name, sizeof name - 1);
    return std::string("host:") + name;
}

std::string hex(std::uint64_t value) {
    char digits[17];
    const auto end = std::to_chars(digits, digits + sizeof digits, value, 16).ptr;
    return {digits, end};
}

Fd open_folder(int root, const char* name) {
    ::mkdirat(root, name, 0700);
    return Fd(::openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
}

// A shim that was being started when its worker died has the worker's lock until it executes its
// own program. Zero, or errno.
int lock_soon(int file) {
    const auto give_up_at = shim_boot_now() + folder_lock_patience;
    while (::flock(file, LOCK_EX | LOCK_NB) != 0) {
        const int failed = errno;
        if (failed != EWOULDBLOCK || shim_boot_now() >= give_up_at) return failed;
        ::poll(nullptr, 0, 5);
    }
    return 0;
}

}  // namespace

Result<std::shared_ptr<StateFolder>> StateFolder::open(const std::string& path) {
    auto folder = std::make_shared<StateFolder>();
    if (auto opened = folder->lock_and_open(path); !opened) return opened.error();
    return folder;
}

Result<void> StateFolder::open_root(const std::string& given) {
    const auto path = trust_way_to(given, directory_word);
    if (!path) return path.error();
    std::error_code ignored;  // opening it says what is wrong
    std::filesystem::create_directories(std::filesystem::path(*path).parent_path(), ignored);
    ::mkdir(path->c_str(), 0700);
    root_.reset(::open(path->c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!root_) return os_error("state directory `" + given + "`", errno);
    auto trusted = trust_directory(*path, directory_word);
    if (!trusted) return trusted.error();
    notes_ = std::move(trusted->notes);
    return {};
}

Result<void> StateFolder::lock_and_open(const std::string& path) {
    if (auto opened = open_root(path); !opened) return opened.error();
    lock_.reset(::openat(root_.get(), "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock_) return os_error("lock of `" + path + "`", errno);
    if (const int failed = lock_soon(lock_.get())) {
        if (failed != EWOULDBLOCK) return os_error("lock of `" + path + "`", failed);
        return error(Errc::conflict, "another worker uses the state directory `" + path + "`");
    }
    attempts_ = open_folder(root_.get(), "attempts");
    char whole[PATH_MAX];
    struct stat about {};
    if (!attempts_ || ::fstat(root_.get(), &about) != 0 || !::realpath(path.c_str(), whole))
        return os_error("state directory `" + path + "`", errno);
    attempts_path_ = std::string(whole) + "/attempts";
    if (!spares_.open(root_.get(), "spare"))
        return os_error("state directory `" + path + "`", errno);
    identity_ = {.machine = machine_id(),
                 .boot = first_line("/proc/sys/kernel/random/boot_id"),
                 .device = about.st_dev,
                 .inode = about.st_ino};
    mark_ = hex(identity_.device) + "." + hex(identity_.inode) + "/";
    life_ = read_life();
    return {};
}

StateFolder::LifeFile StateFolder::read_life() {
    LifeFile life;
    const auto text = read_file(root_.get(), life_name, 64 * 1024);
    if (!text) return life;
    RecordReader reader(*text);
    while (const auto record = reader.next()) {
        if (record->name == "number")
            life.number = number_in<std::uint64_t>(record->bytes).value_or(0);
        if (record->name == "boot") life.boot = record->bytes;
        if (record->name == "clean") life.clean = record->bytes == "1";
        if (record->name == "crash")
            life.crashes.push_back({number_in<std::int64_t>(record->bytes).value_or(0)});
    }
    // A number that went back would let an old life speak for us. The seconds since 1970 are above
    // every count of starts.
    if (life.number == 0 || reader.corrupt())
        life.number = static_cast<std::uint64_t>(std::time(nullptr));
    return life;
}

int StateFolder::write_life(Durability durability) {
    std::string text;
    append_record(text, "number", std::to_string(life_.number));
    append_record(text, "boot", life_.boot);
    append_record(text, "clean", life_.clean ? "1" : "0");
    for (const auto at : life_.crashes) append_record(text, "crash", at.us);
    // The new text is complete or not there: a rename is atomic, synced or not.
    if (durability == Durability::synced)
        return attempt_files::write_durably(root_.get(), life_name, text);
    if (const int failed = attempt_files::write_plainly(root_.get(), "life.next", text))
        return failed;
    return ::renameat(root_.get(), "life.next", root_.get(), life_name) == 0 ? 0 : errno;
}

Result<Life> StateFolder::begin_life(Begins begins) {
    const std::lock_guard hold(life_mutex_);
    const auto now = shim_boot_now();
    // After a reboot nobody knows how the last life ended: most likely it was the machine's end.
    if (life_.boot != identity_.boot) life_.crashes.clear();
    const bool crashed =
        begins == Begins::in_a_new_process && !life_.clean && life_.boot == identity_.boot;
    if (crashed) life_.crashes.push_back(now);
    life_.crashes = crashes_in_a_row(std::move(life_.crashes), now);
    life_.boot = identity_.boot;
    life_.clean = false;
    ++life_.number;
    if (const int failed = write_life(Durability::synced))
        return error(Errc::unavailable, std::string("life number: ") + ::strerror(failed));
    return Life{life_.number, {.follows_a_crash = crashed, .crashes = life_.crashes}};
}

void StateFolder::stopped_cleanly() {
    const std::lock_guard hold(life_mutex_);
    life_.clean = true;
    write_life(Durability::left_to_the_system);
}

std::uint64_t StateFolder::life_number() {
    const std::lock_guard hold(life_mutex_);
    return life_.number;
}

bool StateFolder::let_jobs_through() {
    return ::fchmod(root_.get(), 0711) == 0 && ::fchmod(attempts_.get(), 0711) == 0;
}

void StateFolder::move_aside(const std::string& name) {
    const auto damaged = open_folder(root_.get(), "damaged");
    const auto as = name + "." + std::to_string(life_.number);
    ::renameat(attempts_.get(), name.c_str(), damaged.get(), as.c_str());
}

void StateFolder::note_shim(pid_t pid) {
    const std::lock_guard hold(pids_mutex_);
    pids_.insert(pid);
}

void StateFolder::forget_shim(pid_t pid) {
    const std::lock_guard hold(pids_mutex_);
    pids_.erase(pid);
}

bool StateFolder::is_noted_shim(pid_t pid) {
    const std::lock_guard hold(pids_mutex_);
    return pids_.contains(pid);
}

}  // namespace perdure
