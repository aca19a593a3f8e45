#include "base/probe.h"

#include <gtest/gtest.h>

namespace perdure::probe_test {
namespace {

const Probe* find(std::string_view name) {
    for (const auto* p = Probe::first(); p != nullptr; p = p->next())
        if (p->name() == name) return p;
    return nullptr;
}

void rare_branch(bool taken) {
    if (taken) reached<"probe_test_rare_branch">();
}

// The report of all probes that were never reached depends on it.
TEST(Probe, is_known_before_it_is_reached) {
    const auto* probe = find("probe_test_rare_branch");
    ASSERT_NE(probe, nullptr);
    rare_branch(false);
    EXPECT_EQ(probe->count(), 0U);
    rare_branch(true);
    rare_branch(true);
    EXPECT_EQ(probe->count(), 2U);
}

TEST(Probe, of_one_name_is_one_probe_wherever_it_is_reached) {
    reached<"probe_test_two_places">();
    reached<"probe_test_two_places">();
    int found = 0;
    for (const auto* p = Probe::first(); p != nullptr; p = p->next())
        found += p->name() == "probe_test_two_places";
    EXPECT_EQ(found, 1);
    EXPECT_EQ(find("probe_test_two_places")->count(), 2U);
}

TEST(Probe, adds_up_the_hits_of_other_runs) {
    probe<"probe_test_added">.add(40);
    reached<"probe_test_added">();
    EXPECT_EQ(find("probe_test_added")->count(), 41U);
}

}  // namespace
}  // namespace perdure::probe_test
