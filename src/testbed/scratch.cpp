#include "testbed/scratch.h"

#include <linux/magic.h>
#include <stdlib.h>
#include <sys/vfs.h>

#include <cstring>
#include <filesystem>

namespace perdure {
namespace {

bool is_in_memory(const std::string& path) {
    struct statfs facts {};
    if (statfs(path.c_str(), &facts) != 0) return false;
    return facts.f_type == TMPFS_MAGIC || facts.f_type == RAMFS_MAGIC;
}

}  // namespace

Result<std::unique_ptr<Scratch>> Scratch::make(const ScratchOptions& options) {
    const auto& parent = options.parent;
    if (options.on_disk && is_in_memory(parent))
        return error(
            Errc::invalid,
            parent + " is in memory, where durability costs nothing: give --dir on a disk");
    auto path = parent + "/" + options.name + "-XXXXXX";
    if (!mkdtemp(path.data()))
        return error(Errc::invalid,
                     "no directory can be made in " + parent + ": " + std::strerror(errno));
    return std::unique_ptr<Scratch>(new Scratch(std::move(path), options.keep));
}

Scratch::~Scratch() {
    std::error_code ignored;
    if (!keep_) std::filesystem::remove_all(path_, ignored);
}

Result<std::string> Scratch::folder(const std::string& name) const {
    const auto path = path_ + "/" + name;
    std::error_code failed;
    std::filesystem::create_directory(path, failed);
    if (failed) return error(Errc::unavailable, "cannot make " + path + ": " + failed.message());
    return path;
}

}  // namespace perdure
