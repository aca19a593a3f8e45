#include "store/sqlite/db/durable_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "store/engine/failure.h"

namespace perdure::store::sqlite {

bool sync_path(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const bool is_synced = ::fsync(file) == 0;
    const int why = errno;
    ::close(file);
    errno = why;
    return is_synced;
}

void rename_durably(const std::string& from, const std::string& to) {
    const auto folder = std::filesystem::path(to).parent_path().string();
    const bool done = sync_path(from) && std::rename(from.c_str(), to.c_str()) == 0 &&
                      sync_path(folder.empty() ? "." : folder);
    if (!done)
        throw Failure{error(Errc::unavailable, fmt::format("cannot put {} in its place: {}", to,
                                                           std::strerror(errno)))};
}

bool is_there(const std::string& path) {
    return ::faccessat(AT_FDCWD, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

std::uint64_t size_of(const std::string& path) {
    std::error_code absent;
    const auto size = std::filesystem::file_size(path, absent);
    return absent ? 0 : size;
}

void remove_database(const std::string& path) {
    for (const auto* more : {"", "-journal", "-wal", "-shm", "-idle"})
        ::unlink((path + more).c_str());
}

}  // namespace perdure::store::sqlite
