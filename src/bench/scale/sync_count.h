// SyncCount: how often processes have called fsync or fdatasync, without a tracer: they are started
// with a small library before all others that counts and calls the real one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace perdure::bench {

class SyncCount {
public:
    // The library lies beside this program; a copy of it and its count go into the folder.
    // unavailable: it is not there, as in an installed Perdure.
    static Result<std::unique_ptr<SyncCount>> make(const std::string& folder);
    ~SyncCount();
    SyncCount(const SyncCount&) = delete;
    SyncCount& operator=(const SyncCount&) = delete;

    const std::string& library() const { return library_; }
    // So far, of all processes that have loaded it.
    std::uint64_t value() const;

private:
    SyncCount(std::string library, std::uint64_t* count)
        : library_(std::move(library)), count_(count) {}

    std::string library_;
    std::uint64_t* count_;
};

}  // namespace perdure::bench
