// What the calls of the system are wrapped in here: folders that are read, files of /proc and /sys,
// and errors as sentences.
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "shim/format/fd.h"

namespace perdure {

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};
using OpenDirectory = std::unique_ptr<DIR, CloseDirectory>;

// Takes the descriptor over, which may be none.
inline OpenDirectory open_directory(int fd) {
    return OpenDirectory(fd < 0 ? nullptr : ::fdopendir(fd));
}

// A shortage passes: it says nothing against the job.
inline Error os_error(const std::string& what, int number) {
    const bool shortage =
        number == EAGAIN || number == ENOMEM || number == EMFILE || number == ENFILE;
    return error(shortage ? Errc::overloaded : Errc::unavailable, what + ": " + ::strerror(number));
}

inline bool file_exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

// Empty if it cannot be read.
inline std::string text_of_file(const std::string& path) {
    constexpr std::size_t file_max = std::size_t{1} << 20;
    return read_file(AT_FDCWD, path.c_str(), file_max).value_or("");
}

}  // namespace perdure
