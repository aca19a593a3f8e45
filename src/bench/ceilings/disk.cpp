#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "bench/ceilings/ceilings.h"
#include "testbed/stopwatch.h"

namespace perdure::bench {

Result<DiskSpeed> measure_disk(const std::string& folder, std::size_t count) {
    const auto path = folder + "/fdatasync";
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return error(Errc::unavailable, "cannot write " + path + ": " + std::strerror(errno));
    std::array<char, 4096> page{};
    Samples samples;
    bool fine = true;
    const Stopwatch all;
    for (std::size_t i = 0; i < count && fine; ++i) {
        const Stopwatch one;
        fine = ::write(file, page.data(), page.size()) == static_cast<ssize_t>(page.size()) &&
               ::fdatasync(file) == 0;
        samples.add(one.milliseconds());
    }
    const auto per_s = all.rate(count);
    ::close(file);
    ::unlink(path.c_str());
    if (!fine) return error(Errc::unavailable, "fdatasync failed in " + folder);
    return DiskSpeed{samples.spread(), per_s};
}

}  // namespace perdure::bench
