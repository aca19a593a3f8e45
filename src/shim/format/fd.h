// Fd: one open file descriptor, closed when its owner goes. The functions beside it carry on after
// EINTR and partial writes, and answer with an errno: zero is success. Nothing here throws.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace perdure {

class Fd {
public:
    Fd() = default;
    explicit Fd(int fd) : fd_(fd) {}
    Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        if (this != &other) reset(std::exchange(other.fd_, -1));
        return *this;
    }
    ~Fd() { reset(); }

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    int release() { return std::exchange(fd_, -1); }
    void reset(int fd = -1) {
        if (fd_ >= 0) ::close(fd_);
        fd_ = fd;
    }

private:
    int fd_ = -1;
};

inline int write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto done = ::write(fd, bytes.data(), bytes.size());
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return errno;
        bytes.remove_prefix(static_cast<std::size_t>(done));
    }
    return 0;
}

// A whole file, if it is a plain one of at most `max` bytes. Files of /proc and the like say that
// they are empty: what counts is what can be read.
inline std::optional<std::string> read_open_file(int file, std::size_t max) {
    struct stat about {};
    if (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
    if (about.st_size > static_cast<off_t>(max)) return std::nullopt;
    std::string text(static_cast<std::size_t>(about.st_size) + 1'024, '\0');
    std::size_t have = 0;
    while (have <= max) {
        if (have == text.size()) text.resize(have * 2);
        const auto got = ::read(file, text.data() + have, text.size() - have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return std::nullopt;
        have += static_cast<std::size_t>(got);
        text.resize(got == 0 ? have : text.size());
        if (got == 0) return text;
    }
    return std::nullopt;
}

inline std::optional<std::string> read_file(int directory, const char* name, std::size_t max) {
    const Fd file(::openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    if (!file) return std::nullopt;
    return read_open_file(file.get(), max);
}

}  // namespace perdure
