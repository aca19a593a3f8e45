#include "core/policy/cause.h"

#include <gtest/gtest.h>

#include <set>

namespace perdure::cause_test {
namespace {

TEST(Cause, every_cause_has_one_spelling_of_its_own) {
    const std::set<std::string_view> names(cause_names.begin(), cause_names.end());
    EXPECT_EQ(names.size(), cause_count);
    EXPECT_EQ(names.count(""), 0U);
    EXPECT_EQ(static_cast<std::size_t>(last_cause) + 1, cause_count);
}

// The spellings are on the wire and in the database: a change breaks what is stored.
TEST(Cause, is_spelt_as_in_the_table) {
    const std::pair<Cause, std::string_view> table[] = {
        {Cause::exit, "exit"},
        {Cause::verdict_retry, "verdict(retry)"},
        {Cause::verdict_permanent, "verdict(permanent)"},
        {Cause::verdict_at, "verdict(at)"},
        {Cause::conflict, "conflict"},
        {Cause::disconnected, "disconnected"},
        {Cause::crash_signal, "crash(signal)"},
        {Cause::crash_worker, "crash(worker)"},
        {Cause::oom, "oom"},
        {Cause::timeout_queue, "timeout(queue)"},
        {Cause::timeout_run, "timeout(run)"},
        {Cause::timeout_idle, "timeout(idle)"},
        {Cause::timeout_total, "timeout(total)"},
        {Cause::command_unusable, "command_unusable"},
        {Cause::no_resources, "no_resources"},
        {Cause::shim_failed, "shim_failed"},
        {Cause::shim_lost, "shim_lost"},
        {Cause::lock_busy, "lock_busy"},
        {Cause::worker_lost, "worker_lost"},
        {Cause::host_lost, "host_lost"},
        {Cause::cut_off, "cut_off"},
        {Cause::evicted, "evicted"},
        {Cause::cancelled, "cancelled"},
        {Cause::corrupt, "corrupt"},
        {Cause::suspect, "suspect"},
    };
    EXPECT_EQ(std::size(table), cause_count);
    for (const auto& [cause, name] : table) EXPECT_EQ(to_string(cause), name);
}

TEST(Ran, has_three_answers_and_unknown_is_one_of_them) {
    EXPECT_EQ(to_string(Ran::no), "no");
    EXPECT_EQ(to_string(Ran::maybe), "maybe");
    EXPECT_EQ(to_string(Ran::yes), "yes");
}

TEST(AttemptEnd, claims_nothing_that_nobody_has_said) {
    const AttemptEnd end;
    EXPECT_EQ(end.ran, Ran::maybe);
    EXPECT_FALSE(end.succeeded);
    EXPECT_FALSE(end.clean);
    EXPECT_FALSE(end.reported);
    EXPECT_TRUE(end.counted);
}

// Every end that our own code makes, and every one that cannot be.
TEST(Contradiction, is_found_in_exactly_those_ends_that_cannot_be) {
    for (std::size_t i = 0; i < cause_count; ++i)
        for (const auto ran : {Ran::no, Ran::maybe, Ran::yes})
            for (const bool succeeded : {false, true})
                for (const auto code : {0, 3})
                    for (const bool has_date : {false, true}) {
                        AttemptEnd end{.cause = static_cast<Cause>(i),
                                       .ran = ran,
                                       .succeeded = succeeded,
                                       .exit_code = code};
                        if (has_date) end.at = WallTime{1};
                        const bool exit = end.cause == Cause::exit;
                        const bool possible = has_date == (end.cause == Cause::verdict_at) &&
                                              end.cause != Cause::timeout_queue &&
                                              (!exit || ran == Ran::yes) &&
                                              (!succeeded || (exit && code == 0));
                        EXPECT_EQ(!find_contradiction(end), possible)
                            << to_string(end.cause) << " " << to_string(ran) << succeeded << code;
                    }
}

TEST(Contradiction, is_a_date_that_cannot_be_written) {
    AttemptEnd end{.cause = Cause::verdict_at, .ran = Ran::yes, .at = WallTime{-1}};
    EXPECT_TRUE(find_contradiction(end));
    end.at = WallTime{INT64_MAX};
    EXPECT_TRUE(find_contradiction(end));
    end.at = WallTime{0};
    EXPECT_FALSE(find_contradiction(end));
}

}  // namespace
}  // namespace perdure::cause_test
