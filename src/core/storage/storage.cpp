#include "core/storage/storage.h"

#include <algorithm>

namespace perdure {

std::uint64_t reserve_of(const SpaceFacts& facts) {
    return std::min(facts.reserve, facts.disk_bytes / 20);
}

SpaceDecision decide_space(const SpaceFacts& facts) {
    if (facts.free_bytes < reserve_of(facts))
        return {SpaceDecision::Kind::refuse_submits, "P11/reserve_of_space"};
    return {};
}

BackupDecision decide_backup(const BackupFacts& f) {
    using Kind = BackupDecision::Kind;
    if (f.is_stopping) return {Kind::give_up, "the server stops: begin again when it is back"};
    if (f.log_bytes > backup_log_max)
        return {Kind::give_up,
                "the write-ahead log has grown beyond 4 GiB meanwhile: begin again when less is "
                "written, or write to a faster disk"};
    if (f.free_at_copy < f.bytes_left)
        return {Kind::give_up,
                "there is not enough room where the copy goes: free some space, or choose another "
                "disk"};
    if (f.free_at_data < backup_leaves_free)
        return {Kind::give_up,
                "less than 256 MiB are free where the data is, and the server needs those: free "
                "some space, or choose another disk"};
    return {};
}

}  // namespace perdure
