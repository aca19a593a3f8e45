#include "core/access/path_trust.h"

#include <gtest/gtest.h>

#include <vector>

namespace perdure::path_trust_test {
namespace {

using Owner = PathFacts::Owner;
using Kind = PathFacts::Kind;

// All 384 of them.
std::vector<PathFacts> every_path() {
    std::vector<PathFacts> all;
    for (const auto role :
         {PathRole::ancestor, PathRole::directory, PathRole::entry, PathRole::configuration})
        for (const auto owner : {Owner::self, Owner::root, Owner::other})
            for (const auto kind : {Kind::directory, Kind::file, Kind::symlink, Kind::other})
                for (int bits = 0; bits < 8; ++bits)
                    all.push_back({.role = role,
                                   .owner = owner,
                                   .kind = kind,
                                   .writable_by_others = (bits & 1) != 0,
                                   .readable_by_others = (bits & 2) != 0,
                                   .sticky = (bits & 4) != 0});
    return all;
}

bool is_path_used(const PathFacts& facts) {
    return decide_path_trust(facts).verdict != PathVerdict::refuse;
}

TEST(DecidePathTrust, nothing_of_another_account_is_used) {
    for (const auto& facts : every_path())
        if (facts.owner == Owner::other) {
            EXPECT_FALSE(is_path_used(facts));
        }
}

TEST(DecidePathTrust, what_others_can_write_is_used_only_as_a_sticky_directory_of_root_above) {
    for (const auto& facts : every_path()) {
        if (!facts.writable_by_others || !is_path_used(facts)) continue;
        EXPECT_EQ(facts.role, PathRole::ancestor);
        const bool is_link = facts.kind == Kind::symlink;
        const bool is_shared = facts.sticky && facts.owner == Owner::root;
        EXPECT_TRUE(is_link || is_shared);
    }
}

TEST(DecidePathTrust, a_link_is_followed_on_the_way_and_nowhere_else) {
    for (const auto& facts : every_path())
        if (facts.kind == Kind::symlink && is_path_used(facts)) {
            EXPECT_EQ(facts.role, PathRole::ancestor);
        }
}

TEST(DecidePathTrust, the_directory_itself_belongs_to_this_very_user) {
    for (const auto& facts : every_path())
        if (facts.role == PathRole::directory && is_path_used(facts)) {
            EXPECT_EQ(facts.owner, Owner::self);
            EXPECT_EQ(facts.kind, Kind::directory);
        }
}

TEST(DecidePathTrust, what_is_tightened_is_ours_and_was_only_readable) {
    for (const auto& facts : every_path()) {
        const auto decision = decide_path_trust(facts);
        if (decision.verdict != PathVerdict::tighten) continue;
        EXPECT_EQ(facts.owner, Owner::self);
        EXPECT_FALSE(facts.writable_by_others);
        EXPECT_TRUE(facts.readable_by_others);
    }
}

TEST(DecidePathTrust, nothing_of_ours_in_the_directory_stays_readable_by_others) {
    for (const auto& facts : every_path()) {
        const bool inside = facts.role == PathRole::directory || facts.role == PathRole::entry;
        if (inside && facts.owner == Owner::self && facts.readable_by_others) {
            EXPECT_NE(decide_path_trust(facts).verdict, PathVerdict::trust);
        }
    }
}

TEST(DecidePathTrust, settings_are_plain_files) {
    for (const auto& facts : every_path())
        if (facts.role == PathRole::configuration && is_path_used(facts)) {
            EXPECT_EQ(facts.kind, Kind::file);
        }
}

}  // namespace
}  // namespace perdure::path_trust_test
