#include "drill/world/witness.h"

#include <sys/stat.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "drill/world/processes.h"

namespace perdure::drill {
namespace {

constexpr std::size_t words_max = std::size_t{64} << 10;
constexpr int may_pass = 32;

std::string name_of(const std::string& job, std::uint32_t epoch, const char* what) {
    return job + "." + std::to_string(epoch) + "." + what;
}

}  // namespace

// The name appears with the words in it: nobody reads half a trace.
const char* const says_start =
    "T=\"$W/$PERDURE_JOB.$PERDURE_EPOCH\"; echo $$ >\"$T.new\"; mv \"$T.new\" \"$T.start\"\n";
const char* const says_end = ": >\"$T.end\"\n";
const char* const waits_at_gate = "read -r PASS <\"$W/gate\"\n";

pid_t Trace::process() const { return std::atoi(words.c_str()); }

Result<std::unique_ptr<Witness>> Witness::make(const std::string& folder) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    const auto gate = folder + "/gate";
    if (failed || ::mkfifo(gate.c_str(), 0600) != 0)
        return error(Errc::unavailable, "cannot make " + gate + ": " + std::strerror(errno));
    Fd both_ends(::open(gate.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
    return std::unique_ptr<Witness>(new Witness(folder, std::move(both_ends)));
}

std::optional<Trace> Witness::left(const std::string& name) const {
    struct stat about {};
    const auto path = folder_ + "/" + name;
    if (::stat(path.c_str(), &about) != 0) return std::nullopt;
    auto words = read_file(AT_FDCWD, path.c_str(), words_max);
    if (!words) return std::nullopt;
    return Trace{about.st_mtim.tv_sec * 1'000'000 + about.st_mtim.tv_nsec / 1'000,
                 std::move(*words)};
}

std::optional<Trace> Witness::started(const std::string& job, std::uint32_t epoch) const {
    return left(name_of(job, epoch, "start"));
}

std::optional<Trace> Witness::ended(const std::string& job, std::uint32_t epoch) const {
    return left(name_of(job, epoch, "end"));
}

std::size_t Witness::starts(const std::string& job) const {
    std::error_code ignored;
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored)) {
        const auto name = entry.path().filename().string();
        if (name.starts_with(job + ".") && name.ends_with(".start")) ++count;
    }
    return count;
}

Result<Trace> Witness::wait_for_start(const std::string& job, std::uint32_t epoch,
                                      double patience_s) const {
    const auto what = "attempt " + std::to_string(epoch) + " starts";
    return until<Trace>(patience_s, what, [&] { return started(job, epoch); });
}

Result<Trace> Witness::wait_for_end(const std::string& job, std::uint32_t epoch,
                                    double patience_s) const {
    const auto what = "attempt " + std::to_string(epoch) + " reaches its end";
    return until<Trace>(patience_s, what, [&] { return ended(job, epoch); });
}

void Witness::open_gate() const {
    for (int i = 0; i < may_pass; ++i) write_all(gate_.get(), "go\n");
}

bool Witness::nobody_left() const { return with_environment("W=" + folder_).empty(); }

}  // namespace perdure::drill
