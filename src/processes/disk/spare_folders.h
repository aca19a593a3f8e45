// SpareFolders: where attempts' directories are built, and where they wait to be used again. An
// attempt's directory appears and disappears by one rename, complete: a worker that dies meanwhile
// leaves nothing that has to be explained. Used again, because making and deleting half a dozen
// files for each attempt costs a file system more than all the rest. For several threads.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

#include "base/result.h"
#include "shim/format/fd.h"

namespace perdure {

class SpareFolders {
public:
    // A folder of ours, locked: empty except for an empty `work` and files that will be written
    // over, under names that mean nothing.
    struct Spare {
        std::string name;
        Fd directory;
    };

    // `name` is the folder of all of them. Clears what an earlier worker has left there.
    bool open(int root, const char* name);
    Result<Spare> take();
    // Gives it its name in `attempts`. Answers an errno; then it is gone.
    int publish(Spare& spare, int attempts, const std::string& name);
    // False: something in it resists.
    bool discard(const std::string& name);
    // Takes a directory out of `attempts` and keeps it, if nothing of its attempt is left in it.
    // False: it could not even be deleted; it stays here until the next worker begins.
    bool recycle(int attempts, const std::string& name);

private:
    Result<Spare> make_new();
    std::string next_name();
    std::string longest_waiting();
    bool wait_again(const std::string& name);
    bool is_clean(const Fd& directory) const;

    Fd folder_;
    std::mutex mutex_;
    std::deque<std::string> waiting_;  // the one that waits longest first: its shim is gone
    std::uint64_t last_ = 0;
};

}  // namespace perdure
