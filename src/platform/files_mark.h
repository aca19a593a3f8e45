// A mark of the file system as this process sees it: two processes with the same mark open the same
// file by the same path. Made of the boot, the mount namespace and the root directory.
#pragma once

#include <string>

namespace perdure {

// Empty if it cannot be found out.
std::string files_mark();

}  // namespace perdure
