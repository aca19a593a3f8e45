// A library for LD_PRELOAD: counts calls of fsync and fdatasync in a file beside itself, named like
// it with ".count" behind, that the bench has mapped, too. Nothing of Perdure is in it.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace {

std::uint64_t* count_of_syncs = nullptr;

__attribute__((constructor)) void map_count() {
    Dl_info self{};
    if (dladdr(reinterpret_cast<void*>(&map_count), &self) == 0) return;
    const auto path = std::string(self.dli_fname) + ".count";
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    void* mapped =
        mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED) count_of_syncs = static_cast<std::uint64_t*>(mapped);
}

int counted(const char* name, int file) {
    using Sync = int (*)(int);
    if (count_of_syncs) __atomic_fetch_add(count_of_syncs, 1, __ATOMIC_RELAXED);
    return reinterpret_cast<Sync>(dlsym(RTLD_NEXT, name))(file);
}

}  // namespace

extern "C" int fsync(int file) { return counted("fsync", file); }
extern "C" int fdatasync(int file) { return counted("fdatasync", file); }
