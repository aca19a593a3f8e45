#include "core/storage/storage.h"

#include <gtest/gtest.h>

#include <vector>

namespace perdure {
namespace {

constexpr std::uint64_t reserve_mib = std::uint64_t{1} << 20;

// P11
TEST(DecideSpace, refuses_submits_exactly_below_the_reserve) {
    for (const auto disk :
         {std::uint64_t{0}, 100 * reserve_mib, 5'120 * reserve_mib, 1'000'000 * reserve_mib})
        for (const auto reserve : {std::uint64_t{0}, std::uint64_t{1}, 256 * reserve_mib})
            for (const auto free :
                 {std::uint64_t{0}, std::uint64_t{1}, 5 * reserve_mib - 1, 5 * reserve_mib,
                  256 * reserve_mib - 1, 256 * reserve_mib, 999'999 * reserve_mib}) {
                const SpaceFacts facts{free, disk, reserve};
                const bool refuses =
                    decide_space(facts).kind == SpaceDecision::Kind::refuse_submits;
                EXPECT_EQ(refuses, free < reserve && free < disk / 20)
                    << disk << " " << reserve << " " << free;
            }
}

TEST(DecideSpace, a_small_disk_keeps_a_twentieth) {
    EXPECT_EQ(reserve_of({.disk_bytes = 100 * reserve_mib, .reserve = 256 * reserve_mib}),
              5 * reserve_mib);
    EXPECT_EQ(reserve_of({.disk_bytes = 1'000'000 * reserve_mib, .reserve = 256 * reserve_mib}),
              256 * reserve_mib);
}

}  // namespace

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

namespace {

// P4
TEST(DecideAfterRestore, nothing_that_must_not_run_twice_can_start_by_itself) {
    for (const auto effects : {Effects::repeatable, Effects::resumable, Effects::once})
        for (const auto& place : places) {
            const auto what = decide_after_restore({effects, place.state});
            const bool has_ended = place.place == Place::outcome;
            const bool may_start = !has_ended && effects != Effects::repeatable;
            EXPECT_EQ(what != AfterRestore::leave, may_start) << place.name;
            EXPECT_EQ(what == AfterRestore::hold, may_start && can_be_held(place.state))
                << place.name;
        }
}

}  // namespace

}  // namespace perdure
