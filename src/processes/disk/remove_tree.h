// Removing what a job has left, whoever it belongs to and however deep it is. What it has made
// cannot lead us elsewhere: every folder is made ours before it is read, symlinks are removed and
// not followed. Folders inside are moved up beside the first one instead of being descended into,
// so that depth costs neither descriptors nor stack.
#pragma once

#include <string>

namespace perdure {

// `parent` is a folder of ours, in which nobody else makes names. False: something resists; it is
// in `parent`, perhaps under another name.
bool remove_tree(int parent, const std::string& name);

}  // namespace perdure
