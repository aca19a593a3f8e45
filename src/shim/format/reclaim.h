// Opening a folder that a job has had: it may belong to the job's user and forbid everything. It
// becomes ours first, and from then on nobody else can put anything into it or take anything out.
// The parent must be ours, so that nobody can put another one in its place; symlinks are not
// followed, and nothing is changed but the folder itself.
#pragma once

#include <string>

#include "shim/format/fd.h"

namespace perdure {

inline Fd open_reclaimed(int parent, const char* name) {
    const Fd there(::openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat about {};
    if (!there || ::fstat(there.get(), &about) != 0) return {};
    if (about.st_uid != ::geteuid() &&
        ::fchownat(there.get(), "", ::geteuid(), ::getegid(), AT_EMPTY_PATH) != 0)
        return {};
    // A descriptor of this kind knows no fchmod.
    const auto itself = "/proc/self/fd/" + std::to_string(there.get());
    if ((about.st_mode & 07777) != 0700 && ::chmod(itself.c_str(), 0700) != 0) return {};
    return Fd(::openat(there.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace perdure
