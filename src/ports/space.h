// Space: how much room the store has taken, and how much there is. Cheap: it asks the system, and
// reads nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace perdure {

struct SpaceView {
    struct File {
        std::string name;
        std::uint64_t bytes = 0;
        std::uint64_t unused_bytes = 0;  // that the next jobs use, and `perdure compact` gives back
    };
    std::vector<File> files;  // of the store
    std::uint64_t free_bytes = 0;
    std::uint64_t disk_bytes = 0;
};

class Space {
public:
    virtual ~Space() = default;
    // Empty: the system does not say.
    virtual std::optional<SpaceView> look() const = 0;
};

}  // namespace perdure
