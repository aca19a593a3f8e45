#include "store/sqlite/disk_space.h"

#include <array>
#include <filesystem>
#include <fstream>

namespace perdure {
namespace {

// As it stands in the first page of the file, which may be a little behind the log.
constexpr std::size_t header_size = 40;
constexpr std::size_t page_size_at = 16;   // two bytes, the highest first; 1: 65536
constexpr std::size_t free_pages_at = 36;  // four bytes

std::uint64_t number_at(const std::array<char, header_size>& header, std::size_t at,
                        std::size_t bytes) {
    std::uint64_t number = 0;
    for (std::size_t i = at; i < at + bytes; ++i)
        number = number << 8 | static_cast<unsigned char>(header[i]);
    return number;
}

std::uint64_t unused_in(const std::string& path) {
    std::array<char, header_size> header{};
    std::ifstream file(path, std::ios::binary);
    if (!file.read(header.data(), header.size())) return 0;
    const auto page = number_at(header, page_size_at, 2);
    return number_at(header, free_pages_at, 4) * (page == 1 ? 65'536 : page);
}

}  // namespace

std::optional<SpaceView> DiskSpace::look() const {
    std::error_code failed;
    const auto disk = std::filesystem::space(directory_, failed);
    if (failed) return std::nullopt;
    SpaceView view{.files = {}, .free_bytes = disk.available, .disk_bytes = disk.capacity};
    for (const auto* name : {"perdure.db", "perdure.db-wal", "logs.db", "logs.db-wal"}) {
        const auto size = std::filesystem::file_size(directory_ + "/" + name, failed);
        const auto path = directory_ + "/" + name;
        const bool is_database = path.ends_with(".db");
        view.files.push_back({name, failed ? 0 : size, is_database ? unused_in(path) : 0});
    }
    return view;
}

}  // namespace perdure
