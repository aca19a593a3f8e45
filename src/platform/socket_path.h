// SocketPath: a path of any length as the address of a unix socket, which has 108 bytes: its
// directory is opened, and named by its descriptor as long as this lives.
#pragma once

#include <boost/system/error_code.hpp>
#include <string>

#include "shim/format/fd.h"

namespace perdure {

class SocketPath {
public:
    explicit SocketPath(const std::string& path) {
        const auto slash = path.rfind('/');
        const auto folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
        directory_.reset(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (!directory_) failure_.assign(errno, boost::system::system_category());
        text_ = "/proc/self/fd/" + std::to_string(directory_.get()) + "/" + path.substr(slash + 1);
    }

    // Set if the directory cannot be opened.
    const boost::system::error_code& failure() const { return failure_; }
    const std::string& text() const { return text_; }

private:
    Fd directory_;
    boost::system::error_code failure_;
    std::string text_;
};

}  // namespace perdure
