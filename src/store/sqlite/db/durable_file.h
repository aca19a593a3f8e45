// Files whose names and bytes survive a power cut once these return.
#pragma once

#include <cstdint>
#include <string>

namespace perdure::store::sqlite {

// Of a file or a folder; false leaves the reason in errno.
bool sync_path(const std::string& path);
// The name is the new file's or the old one's, never nothing's. Throws a Failure.
void rename_durably(const std::string& from, const std::string& to);
bool is_there(const std::string& path);          // a link as well, wherever it leads
std::uint64_t size_of(const std::string& path);  // zero, too, if it is not there
// With all that SQLite may have beside it; harmless if there is nothing.
void remove_database(const std::string& path);

}  // namespace perdure::store::sqlite
