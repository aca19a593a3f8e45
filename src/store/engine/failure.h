// Failure: how something that SQLite or a stored row refuses travels inside this adapter. Thrown
// by connections, statements and decoders; caught at the store's door alone, where it becomes an
// Error (sqlite_store.cpp, sqlite_blobs.cpp).
#pragma once

#include <string>
#include <utility>

#include "base/error.h"
#include "base/id.h"

namespace perdure::store {

struct Failure {
    Error error;
    // The disk has failed a write or a sync: nobody knows what is in the file. The process must end
    // and begin again from the log; a sync is never tried twice.
    bool fatal = false;
    JobId job = {};  // whose rows they were, if that is known
};

[[noreturn]] inline void fail_corrupt(std::string what) {
    throw Failure{error(Errc::corrupt, std::move(what))};
}

}  // namespace perdure::store
