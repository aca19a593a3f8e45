#include "processes/host_processes.h"

#include "processes/harness.h"

namespace perdure {
namespace {

class HostProcessesTest : public ProcessesTest {};

TEST_F(HostProcessesTest, a_command_runs_and_its_end_is_told) {
    open();
    const auto key = begin(command({"true"}));
    const auto event = end_of(key);
    EXPECT_EQ(count(key, Kind::started), 1U);
    EXPECT_EQ(event.end.cause, Cause::exit);
    EXPECT_EQ(event.end.ran, Ran::yes);
    EXPECT_TRUE(event.end.succeeded);
    EXPECT_EQ(event.evidence->host, "here");
}

}  // namespace
}  // namespace perdure
