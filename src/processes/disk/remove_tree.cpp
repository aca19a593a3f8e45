#include "processes/disk/remove_tree.h"

#include <sys/stat.h>

#include <atomic>
#include <vector>

#include "processes/disk/posix.h"
#include "shim/format/reclaim.h"

namespace perdure {
namespace {

// Names that no spare folder has.
std::string next_name() {
    static std::atomic<std::uint64_t> last = 0;
    return "gone-" + std::to_string(::getpid()) + "-" + std::to_string(++last);
}

bool is_folder(int parent, const char* name) {
    struct stat about {};
    return ::fstatat(parent, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(about.st_mode);
}

class Removal {
public:
    Removal(int parent, std::string first) : parent_(parent) { left_.push_back(std::move(first)); }

    bool run() {
        bool all = true;
        while (!left_.empty()) {
            const auto name = std::move(left_.back());
            left_.pop_back();
            all = remove_one(name) && all;
        }
        return all;
    }

private:
    bool remove_one(const std::string& name) {
        if (!is_folder(parent_, name.c_str()))
            return ::unlinkat(parent_, name.c_str(), 0) == 0 || errno == ENOENT;
        const auto folder = open_reclaimed(parent_, name.c_str());
        return folder && empty(folder) && ::unlinkat(parent_, name.c_str(), AT_REMOVEDIR) == 0;
    }

    // A reading that goes on while names vanish may miss some: again until it sees none.
    bool empty(const Fd& folder) {
        while (true) {
            const auto entries =
                open_directory(::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
            if (!entries) return false;
            bool saw_any = false;
            while (const auto* entry = ::readdir(entries.get())) {
                const std::string_view name = entry->d_name;
                if (name == "." || name == "..") continue;
                saw_any = true;
                if (!take_out(folder, entry->d_name)) return false;
            }
            if (!saw_any) return true;
        }
    }

    bool take_out(const Fd& folder, const char* name) {
        if (!is_folder(folder.get(), name)) return ::unlinkat(folder.get(), name, 0) == 0;
        // Moving a folder writes its `..`: it must be ours.
        if (!open_reclaimed(folder.get(), name)) return false;
        auto moved = next_name();
        if (::renameat(folder.get(), name, parent_, moved.c_str()) != 0) return false;
        left_.push_back(std::move(moved));
        return true;
    }

    int parent_;
    std::vector<std::string> left_;
};

}  // namespace

bool remove_tree(int parent, const std::string& name) { return Removal(parent, name).run(); }

}  // namespace perdure
