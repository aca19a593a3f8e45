#include "processes/order_for.h"

#include <gtest/gtest.h>

#include <map>

namespace perdure::order_for_test {
namespace {

Surroundings around() {
    Surroundings surroundings{.attempts_path = "/state/attempts",
                              .mark = "m",
                              .boot = "b",
                              .host = "anvil",
                              .path = "/bin:/opt/perdure/bin",
                              .servers = "unix:/data/api"};
    surroundings.account = {.name = "alice", .home = "/there/alice", .shell = "/bin/bash"};
    return surroundings;
}

std::map<std::string, std::string> environment_of(JobSpec spec, const Surroundings& surroundings) {
    spec.argv = {"true"};
    Assignment assignment{.attempt = {JobId{7}, Epoch{1}}};
    assignment.spec = std::make_shared<const JobSpec>(std::move(spec));
    const auto order = order_for(assignment, surroundings);
    if (!order) return {};
    return {order->env.begin(), order->env.end()};
}

TEST(OrderFor, gives_a_job_the_account_the_path_and_the_server_of_its_worker) {
    const auto env = environment_of({}, around());
    const std::map<std::string, std::string> wanted = {{"HOME", "/there/alice"},
                                                       {"USER", "alice"},
                                                       {"LOGNAME", "alice"},
                                                       {"SHELL", "/bin/bash"},
                                                       {"PATH", "/bin:/opt/perdure/bin"},
                                                       {"PERDURE_SERVER", "unix:/data/api"}};
    for (const auto& [name, value] : wanted) {
        ASSERT_TRUE(env.contains(name)) << name;
        EXPECT_EQ(env.at(name), value) << name;
    }
}

// The job's own goes before the worker's, which goes before what every job has.
TEST(OrderFor, takes_variables_of_the_worker_unless_the_job_has_its_own) {
    auto surroundings = around();
    surroundings.env = {{"LANG", "de_DE.UTF-8"}, {"EDITOR", "vi"}, {"HOME", "/srv"}};
    const auto env = environment_of({.env = {{"EDITOR", "ed"}}}, surroundings);
    EXPECT_EQ(env.at("LANG"), "de_DE.UTF-8");
    EXPECT_EQ(env.at("EDITOR"), "ed");
    EXPECT_EQ(env.at("HOME"), "/srv");
}

TEST(OrderFor, lets_nobody_else_say_what_perdure_itself_tells_a_job) {
    auto surroundings = around();
    surroundings.env = {{"PERDURE_SERVER", "http://10.0.0.1:1"}, {"PERDURE_JOB", "another"}};
    const auto env =
        environment_of({.env = {{"PERDURE_SERVER", "http://10.0.0.2:1"}}}, surroundings);
    EXPECT_EQ(env.at("PERDURE_SERVER"), "unix:/data/api");
    EXPECT_EQ(env.at("PERDURE_JOB"), JobId{7}.text());
}

}  // namespace
}  // namespace perdure::order_for_test
