// A listening unix socket under a name in the current directory: such a name is always short
// enough, however long the directory's own path is.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "shim/format/fd.h"

namespace perdure {

// Replaces whatever has that name. Answers an errno; zero is success.
inline int listen_at(const char* name, Fd& listener) {
    Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) return errno;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, name, sizeof address.sun_path - 1);
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    if (::bind(fd.get(), generic, sizeof address) != 0) {
        if (errno != EADDRINUSE) return errno;
        ::unlink(name);
        if (::bind(fd.get(), generic, sizeof address) != 0) return errno;
    }
    if (::listen(fd.get(), 64) != 0) return errno;
    listener = std::move(fd);
    return 0;
}

}  // namespace perdure
