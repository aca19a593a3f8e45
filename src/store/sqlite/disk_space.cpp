#include "store/sqlite/disk_space.h"

#include <filesystem>

namespace perdure {

std::optional<SpaceView> DiskSpace::look() const {
    std::error_code failed;
    const auto disk = std::filesystem::space(directory_, failed);
    if (failed) return std::nullopt;
    SpaceView view{.files = {}, .free_bytes = disk.available, .disk_bytes = disk.capacity};
    for (const auto* name : {"perdure.db", "perdure.db-wal", "logs.db", "logs.db-wal"}) {
        const auto size = std::filesystem::file_size(directory_ + "/" + name, failed);
        view.files.push_back({name, failed ? 0 : size});
    }
    return view;
}

}  // namespace perdure
