#include "core/worker/job_user.h"

#include <gtest/gtest.h>

namespace perdure::job_user_test {
namespace {

using Kind = JobUserDecision::Kind;

std::vector<JobUserFacts> every_combination() {
    std::vector<JobUserFacts> all;
    for (const std::uint32_t own : {0U, 1'000U})
        for (const std::uint32_t wanted : {0U, 1'000U, 65'534U})
            for (unsigned rights = 0; rights < 16; ++rights)
                all.push_back({.own = own,
                               .wanted = wanted,
                               .may_set_uid = (rights & 1) != 0,
                               .may_set_gid = (rights & 2) != 0,
                               .may_kill = (rights & 4) != 0,
                               .may_chown = (rights & 8) != 0});
    return all;
}

TEST(DecideJobUser, another_user_needs_all_four_rights_and_is_never_root) {
    for (const auto& f : every_combination()) {
        const auto decision = decide_job_user(f);
        const bool all = f.may_set_uid && f.may_set_gid && f.may_kill && f.may_chown;
        const auto expected = f.wanted == f.own ? Kind::as_the_worker
                              : f.wanted == 0   ? Kind::refuse
                              : all             ? Kind::as_another
                                                : Kind::refuse;
        EXPECT_EQ(decision.kind, expected) << f.own << " " << f.wanted;
        EXPECT_EQ(decision.why.empty(), expected != Kind::refuse);
    }
}

TEST(DecideJobUser, names_exactly_the_rights_that_are_missing) {
    for (const auto& f : every_combination()) {
        if (f.wanted == f.own || f.wanted == 0) continue;
        const auto why = decide_job_user(f).why;
        const auto named = [&](const char* right) { return why.find(right) != std::string::npos; };
        EXPECT_EQ(named("CAP_SETUID"), !f.may_set_uid);
        EXPECT_EQ(named("CAP_SETGID"), !f.may_set_gid);
        EXPECT_EQ(named("CAP_KILL"), !f.may_kill);
        EXPECT_EQ(named("CAP_CHOWN"), !f.may_chown);
    }
}

// U3: over all facts.
TEST(DecideSubmitter, a_job_runs_as_whoever_submitted_it_or_not_at_all) {
    const std::optional<std::uint32_t> uids[] = {std::nullopt, 0, 1'000, 1'001};
    for (const auto uid : uids)
        for (const bool is_known : {false, true})
            for (const std::uint32_t own : {0U, 1'000U})
                for (const bool allows_root : {false, true}) {
                    const auto decision = decide_submitter({uid, is_known, own, allows_root});
                    const bool may = uid && is_known && (*uid != 0 || allows_root);
                    const auto expected = !may          ? Kind::refuse
                                          : *uid == own ? Kind::as_the_worker
                                                        : Kind::as_another;
                    EXPECT_EQ(decision.kind, expected);
                    EXPECT_EQ(decision.why.empty(), may);
                }
}

// As the kernel judges: owner before group before others, and only the first that fits counts.
TEST(FindBarrier, goes_by_the_class_of_the_user_in_every_folder) {
    const Credentials who{.uid = 7, .gid = 70, .groups = {71}};
    for (const std::uint32_t uid : {0U, 7U})
        for (const std::uint32_t gid : {0U, 70U, 71U})
            for (std::uint32_t mode = 0; mode < 0200; ++mode) {
                const std::vector<FolderOnTheWay> way = {{"/", 0, 0, 0755}, {"/a", uid, gid, mode}};
                const auto bit = uid == 7 ? 0100U : gid != 0 ? 0010U : 0001U;
                const auto* barrier = find_barrier(way, who);
                EXPECT_EQ(barrier == nullptr, (mode & bit) != 0)
                    << uid << " " << gid << " " << mode;
                if (!barrier) continue;
                EXPECT_EQ(barrier->path, "/a");
            }
    EXPECT_EQ(find_barrier({{"/a", 1, 1, 0}}, {.uid = 0}), nullptr);
}

}  // namespace
}  // namespace perdure::job_user_test
