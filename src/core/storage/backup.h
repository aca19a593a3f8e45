// Whether a backup may begin, and go on. It reads from one snapshot, and as long as it does the
// write-ahead log cannot be used again from its beginning: it grows by whatever is committed
// meanwhile. That has a bound, and the server's own room on the disk comes first.
#pragma once

#include <cstdint>
#include <string_view>

namespace perdure {

inline constexpr std::uint64_t backup_log_max = std::uint64_t{4} << 30;
inline constexpr std::uint64_t backup_leaves_free = std::uint64_t{256} << 20;

struct BackupFacts {
    std::uint64_t log_bytes = 0;     // of the write-ahead logs now
    std::uint64_t bytes_left = 0;    // to be copied
    std::uint64_t free_at_copy = 0;  // on the disk that the copy is written to
    std::uint64_t free_at_data = 0;  // on the disk of the data directory
    bool is_stopping = false;        // the server
};

struct BackupDecision {
    enum class Kind { go_on, give_up } kind = Kind::go_on;
    std::string_view why = {};  // and what to do
};

// Asked before the first piece and after each.
BackupDecision decide_backup(const BackupFacts& facts);

}  // namespace perdure
