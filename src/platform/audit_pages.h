// Reads the audit log backwards, in pages of a bounded number of bytes, while others append to it.
// Files are found by the numbers in their names, and the place in a file by halving: a page costs
// the same wherever it begins.
#pragma once

#include <cstddef>

#include "ports/access.h"

namespace perdure {

inline constexpr std::size_t audit_page_bytes = std::size_t{8} << 20;  // that are read for a page

// Of all series together. Lines that cannot be understood are passed over.
AuditPage read_audit_page(int directory, const AuditQuery& query,
                          std::size_t bytes_max = audit_page_bytes);

}  // namespace perdure
