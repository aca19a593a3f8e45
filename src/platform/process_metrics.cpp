#include "platform/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

namespace perdure {
namespace {

// Of /proc/self/stat, in the words of proc(5).
struct Stat {
    std::uint64_t utime = 0;  // in clock ticks, as stime and starttime
    std::uint64_t stime = 0;
    std::uint64_t starttime = 0;  // since the system booted
    std::uint64_t vsize = 0;      // bytes
    std::uint64_t rss = 0;        // pages
};

std::optional<Stat> read_stat() {
    std::ifstream file("/proc/self/stat");
    const std::string line{std::istreambuf_iterator<char>(file), {}};
    // The second field is the program's name in parentheses, which may contain anything.
    const auto name_end = line.rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream rest(line.substr(name_end + 1));
    Stat stat;
    std::string skipped;
    for (int field = 3; field <= 24; ++field) {
        std::uint64_t* wanted = field == 14   ? &stat.utime
                                : field == 15 ? &stat.stime
                                : field == 22 ? &stat.starttime
                                : field == 23 ? &stat.vsize
                                : field == 24 ? &stat.rss
                                              : nullptr;
        if (wanted)
            rest >> *wanted;
        else
            rest >> skipped;
    }
    if (!rest) return std::nullopt;
    return stat;
}

std::optional<std::uint64_t> booted_at() {
    std::ifstream file("/proc/stat");
    std::string word;
    std::uint64_t seconds = 0;
    while (file >> word) {
        if (word == "btime" && file >> seconds) return seconds;
        file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    return std::nullopt;
}

void append_descriptors(MetricsText& out) {
    using enum MetricType;
    std::error_code failed;
    const std::filesystem::directory_iterator open("/proc/self/fd", failed);
    if (!failed) {
        // Without the one that lists them.
        const auto count = std::distance(begin(open), end(open)) - 1;
        out.single("process_open_fds", gauge, "Open file descriptors.",
                   static_cast<std::uint64_t>(count));
    }
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        out.single("process_max_fds", gauge, "File descriptors that may be open.",
                   std::uint64_t{limit.rlim_cur});
}

}  // namespace

void append_process_metrics(MetricsText& out) {
    using enum MetricType;
    append_descriptors(out);
    const auto stat = read_stat();
    if (!stat) return;
    const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
    out.single("process_cpu_seconds_total", counter, "Processor time, of user and system.",
               static_cast<double>(stat->utime + stat->stime) / ticks);
    out.single("process_resident_memory_bytes", gauge, "Memory that is resident.",
               stat->rss * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
    out.single("process_virtual_memory_bytes", gauge, "Memory that is mapped.", stat->vsize);
    if (const auto boot = booted_at())
        out.single("process_start_time_seconds", gauge, "When the process started, since 1970.",
                   static_cast<double>(*boot) + static_cast<double>(stat->starttime) / ticks);
}

}  // namespace perdure
