#include "core/storage/backup.h"

#include <gtest/gtest.h>

#include <vector>

namespace perdure {
namespace {

std::vector<BackupFacts> all_facts() {
    std::vector<BackupFacts> all;
    for (const auto log : {std::uint64_t{0}, backup_log_max, backup_log_max + 1})
        for (const auto left : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 40})
            for (const auto copy : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 40})
                for (const auto data :
                     {std::uint64_t{0}, backup_leaves_free - 1, backup_leaves_free})
                    for (const bool stops : {false, true})
                        all.push_back({log, left, copy, data, stops});
    return all;
}

TEST(DecideBackup, goes_on_exactly_while_nobody_else_is_hurt) {
    for (const auto& f : all_facts()) {
        const bool is_harmless = !f.is_stopping && f.log_bytes <= backup_log_max &&
                                 f.free_at_copy >= f.bytes_left &&
                                 f.free_at_data >= backup_leaves_free;
        EXPECT_EQ(decide_backup(f).kind == BackupDecision::Kind::go_on, is_harmless);
    }
}

TEST(DecideBackup, says_what_to_do_whenever_it_gives_up) {
    for (const auto& f : all_facts()) {
        const auto decision = decide_backup(f);
        const bool gives_up = decision.kind == BackupDecision::Kind::give_up;
        EXPECT_EQ(gives_up, decision.why.find(": ") != std::string_view::npos);
    }
}

}  // namespace
}  // namespace perdure
