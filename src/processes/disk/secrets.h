// The secrets of jobs that this worker keeps: a folder with a file KEY for each and a list
// KEY.allow of those that may have it. Folder and files belong to the worker's user or to root,
// nobody else may write the folder or read the files, and nothing is a symlink: otherwise they are
// not used. Calls may block.
#pragma once

#include <string>

#include "base/result.h"
#include "core/job/job.h"
#include "shim/format/order.h"

namespace perdure {

// Puts values in the place of the order's references (S2).
// overloaded: one of them is not kept here, or not kept safely: another worker may have it.
// invalid: the job is not on its list (S3), or all together are too large.
Result<void> fetch_secrets(const std::string& folder, const JobSpec& job, Order& order);

}  // namespace perdure
