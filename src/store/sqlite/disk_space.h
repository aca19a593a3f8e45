// DiskSpace: the files of a data directory, and the disk that it is on.
#pragma once

#include <string>
#include <utility>

#include "ports/space.h"

namespace perdure {

class DiskSpace final : public Space {
public:
    explicit DiskSpace(std::string directory) : directory_(std::move(directory)) {}
    std::optional<SpaceView> look() const override;

private:
    std::string directory_;
};

}  // namespace perdure
