#include "shim/format/attempt_files.h"

#include "shim/format/fd.h"
#include "shim/format/json_text.h"

namespace perdure::attempt_files {
namespace {

// One member of a JSON object; the first one opens it.
class Members {
public:
    explicit Members(std::string& to) : to_(to) { to_ += '{'; }
    void text(std::string_view name, std::string_view value) {
        key(name);
        append_json_string(to_, value);
    }
    void flag(std::string_view name, bool value) { raw(name, value ? "true" : "false"); }
    void number(std::string_view name, std::int64_t value) { raw(name, std::to_string(value)); }
    void raw(std::string_view name, std::string_view value) {
        key(name);
        to_ += value;
    }
    void close() { to_ += '}'; }

private:
    void key(std::string_view name) {
        if (to_.back() != '{') to_ += ',';
        append_json_string(to_, name);
        to_ += ':';
    }
    std::string& to_;
};

int write_new(int directory, const char* name, std::string_view bytes, bool sync) {
    const Fd file(::openat(directory, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return errno;
    if (const int failed = write_all(file.get(), bytes)) return failed;
    if (::ftruncate(file.get(), static_cast<off_t>(bytes.size())) != 0) return errno;
    if (sync && ::fdatasync(file.get()) != 0) return errno;
    return 0;
}

}  // namespace

int write_plainly(int directory, const char* name, std::string_view bytes) {
    return write_new(directory, name, bytes, false);
}

int write_durably(int directory, const char* name, std::string_view bytes) {
    const std::string draft = std::string(name) + ".new";
    if (const int failed = write_new(directory, draft.c_str(), bytes, true)) return failed;
    if (::renameat(directory, draft.c_str(), directory, name) != 0) return errno;
    return ::fsync(directory) == 0 ? 0 : errno;
}

int sync_file(int directory, const char* name) {
    const Fd file(::openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file) return errno;
    return ::fsync(file.get()) == 0 ? 0 : errno;
}

std::string result_json(const AttemptEnd& end, const Evidence& evidence) {
    std::string text;
    Members members(text);
    members.number("version", result_version);
    members.text("cause", to_string(end.cause));
    members.text("ran", to_string(end.ran));
    members.flag("succeeded", end.succeeded);
    members.flag("clean", end.clean);
    members.number("exit_code", end.exit_code);
    if (end.at) members.number("at_us", end.at->us);
    if (!evidence.detail.empty()) members.text("detail", evidence.detail);
    if (!evidence.last_lines.empty()) members.text("last_lines", evidence.last_lines);
    members.text("host", evidence.host);
    members.number("peak_memory", static_cast<std::int64_t>(evidence.peak_memory));
    members.number("ran_for_us", evidence.ran_for.us);
    if (evidence.output_cut != 0)
        members.number("output_cut", static_cast<std::int64_t>(evidence.output_cut));
    const auto& usage = evidence.usage;
    members.number("cpu_user_us", usage.cpu_user.us);
    members.number("cpu_system_us", usage.cpu_system.us);
    members.number("read_bytes", static_cast<std::int64_t>(usage.read_bytes));
    members.number("write_bytes", static_cast<std::int64_t>(usage.write_bytes));
    // As a string: a reader gets the job's own text back, byte for byte.
    if (!evidence.result.empty()) members.text("result", evidence.result);
    members.close();
    text += '\n';
    return text;
}

}  // namespace perdure::attempt_files
