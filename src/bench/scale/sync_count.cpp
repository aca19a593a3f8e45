#include "bench/scale/sync_count.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "testbed/child.h"

namespace perdure::bench {

Result<std::unique_ptr<SyncCount>> SyncCount::make(const std::string& folder) {
    const auto library = folder + "/count-syncs.so";
    std::error_code failed;
    std::filesystem::copy_file(program_beside("perdure-count-syncs.so"), library, failed);
    if (failed)
        return error(Errc::unavailable,
                     "syncs cannot be counted: perdure-count-syncs.so: " + failed.message());
    // The library maps this file, whose name it makes of its own.
    const auto path = library + ".count";
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    void* mapped = MAP_FAILED;
    if (file >= 0 && ::ftruncate(file, sizeof(std::uint64_t)) == 0)
        mapped = ::mmap(nullptr, sizeof(std::uint64_t), PROT_READ, MAP_SHARED, file, 0);
    if (file >= 0) ::close(file);
    if (mapped == MAP_FAILED) return error(Errc::unavailable, "cannot map " + path);
    return std::unique_ptr<SyncCount>(new SyncCount(library, static_cast<std::uint64_t*>(mapped)));
}

SyncCount::~SyncCount() { ::munmap(count_, sizeof(std::uint64_t)); }

std::uint64_t SyncCount::value() const { return __atomic_load_n(count_, __ATOMIC_RELAXED); }

}  // namespace perdure::bench
