#include "core/worker/folder.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace perdure::folder_test {
namespace {

std::vector<JobHost> every_host() {
    std::vector<JobHost> all;
    for (const auto uid : {std::optional<std::uint32_t>{}, std::optional<std::uint32_t>{7},
                           std::optional<std::uint32_t>{0}})
        for (const auto* files : {"", "here", "there"})
            all.push_back({.limits = {}, .uid = uid, .files = files});
    return all;
}

// A path means nothing elsewhere, and another user may not even enter it: one doubtful worker is
// enough. All callers beside all pairs of workers.
TEST(DecideFolder, is_the_callers_exactly_if_every_worker_runs_it_as_the_caller_on_the_same_files) {
    for (const auto& caller : every_host()) {
        EXPECT_EQ(decide_folder(caller, std::nullopt), Folder::fresh_not_known);
        EXPECT_EQ(decide_folder(caller, std::vector<JobHost>{}), Folder::fresh_no_worker);
        for (const auto& a : every_host())
            for (const auto& b : every_host()) {
                const std::vector<JobHost> workers{a, b};
                const bool same = std::all_of(workers.begin(), workers.end(), [&](const auto& w) {
                    return w.uid && w.uid == caller.uid && !w.files.empty() &&
                           w.files == caller.files;
                });
                const auto folder = decide_folder(caller, workers);
                EXPECT_EQ(folder == Folder::callers, same);
                EXPECT_EQ(why_fresh(folder).empty(), same);
            }
    }
}

TEST(DecideFolder, says_what_is_different) {
    const JobHost caller{.limits = {}, .uid = 7, .files = "here"};
    using Hosts = std::vector<JobHost>;
    EXPECT_EQ(decide_folder(caller, Hosts{{.limits = {}, .uid = 0, .files = "here"}}),
              Folder::fresh_another_user);
    EXPECT_EQ(decide_folder(caller, Hosts{{.limits = {}, .uid = 7, .files = "there"}}),
              Folder::fresh_elsewhere);
    EXPECT_EQ(decide_folder(caller, Hosts{{}}), Folder::fresh_not_known);
}

}  // namespace
}  // namespace perdure::folder_test
