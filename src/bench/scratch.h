// Scratch: a fresh directory on a real disk, removed at the end unless it is to be kept.
// A file system in memory is refused: there a sync costs nothing, and all figures would be lies.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace perdure::bench {

class Scratch {
public:
    // Below `parent`, which must exist.
    static Result<std::unique_ptr<Scratch>> make(const std::string& parent, bool keep);
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

}  // namespace perdure::bench
