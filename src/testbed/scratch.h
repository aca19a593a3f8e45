// Scratch: a fresh directory, removed at the end unless it is to be kept. For those who measure
// speed, a file system in memory is refused: there a sync costs nothing, and all figures would be
// lies.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace perdure {

struct ScratchOptions {
    std::string parent;  // must exist
    std::string name;    // its own begins with it
    bool keep = false;
    bool on_disk = false;  // refuse to be in memory
};

class Scratch {
public:
    static Result<std::unique_ptr<Scratch>> make(const ScratchOptions& options);
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    const std::string& path() const { return path_; }
    // The path of a new, empty directory in it.
    Result<std::string> folder(const std::string& name) const;

private:
    Scratch(std::string path, bool keep) : path_(std::move(path)), keep_(keep) {}

    std::string path_;
    bool keep_;
};

}  // namespace perdure
