#include "drill/verdict.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "drill/world/stall_watch.h"

namespace perdure::drill {
namespace {

const Row row{.name = "worker",
              .failure = "worker is killed",
              .sentence = "kill -9",
              .old = "170 s",
              .old_s = 170,
              .bound_s = 1};

TEST(DrillVerdict, is_good_if_every_run_ended_well_and_in_time) {
    EXPECT_TRUE((Verdict{&row, {0.1, 1.0}, {}}.ok()));
    EXPECT_FALSE((Verdict{&row, {0.1, 1.001}, {}}.ok())) << "one was late";
    EXPECT_FALSE((Verdict{&row, {0.1}, {"run 2: it started twice"}}.ok())) << "one went wrong";
    EXPECT_FALSE((Verdict{&row, {}, {}}.ok())) << "nothing was measured";
}

TEST(DecidePace, excuses_a_miss_exactly_by_the_machines_own_delay) {
    for (const double took : {0.0, 0.9, 1.0, 1.1, 2.0, 9.0})
        for (const double stall : {0.0, 0.05, 0.1, 1.0, 8.0, 20.0}) {
            const auto pace = decide_pace({took, stall}, 1.0);
            // A bound that was kept needs no excuse; no stall, no excuse; and it is never more than
            // the machine was late.
            EXPECT_EQ(pace == Pace::in_time, took <= 1.0);
            EXPECT_FALSE(stall == 0.0 && pace == Pace::machine_late);
            EXPECT_EQ(pace == Pace::late, took - stall > 1.0);
        }
}

TEST(DrillVerdict, of_several_runs_is_the_worst) {
    EXPECT_EQ((Verdict{&row, {{0.5, 0.3}, {1.2, 0.3}}, {}}.pace()), Pace::machine_late);
    EXPECT_EQ((Verdict{&row, {{1.2, 0.3}, {1.2, 0.1}}, {}}.pace()), Pace::late)
        << "the machine was late in another run";
    EXPECT_EQ((Verdict{&row, {{1.2, 0.3}}, {"run 2: it started twice"}}.pace()), Pace::late);
    EXPECT_EQ((Verdict{&row, {{0.5, 3}}, {}}.pace()), Pace::in_time);
}

TEST(DrillVerdict, says_that_the_machine_was_late) {
    const Verdict excused{&row, {{1.24, 0.3}}, {}};
    EXPECT_EQ(complaint_of(excused),
              "    it took 1.24 s where 1 s are allowed; the machine itself was 300 ms late: no "
              "failure of ours\n");
    EXPECT_TRUE(line_of(excused, false).starts_with("~ "));
    EXPECT_NE(as_json({excused}).find(R"("ok":false,"verdict":"machine_late","stall_s":0.300)"),
              std::string::npos);
    EXPECT_NE(summary_of({excused}, 50, 3).find("the machine itself was late"), std::string::npos);
    EXPECT_EQ(
        complaint_of(Verdict{&row, {{2, 0.1}}, {}}),
        "    it took 2.00 s where 1 s are allowed; the machine itself was only 100 ms late\n");
    EXPECT_EQ(complaint_of(Verdict{&row, {{0.5, 0.1}}, {}}),
              "    the machine itself was up to 100 ms late meanwhile\n");
    EXPECT_EQ(complaint_of(Verdict{&row, {{0.5, 0.01}}, {}}), "");
}

TEST(StallWatch, notes_nothing_worse_than_what_passed) {
    const StallWatch watch;
    const auto began = now();
    while (seconds_between(began, now()) < 0.03) std::this_thread::yield();
    EXPECT_LE(watch.worst_since(began), seconds_between(began, now()));
    EXPECT_EQ(watch.worst_since(now()), 0);
}

TEST(DrillVerdict, takes_the_median_and_the_worst) {
    const Verdict verdict{&row, {0.5, 0.1, 0.4, 0.3, 0.2}, {}};
    EXPECT_DOUBLE_EQ(verdict.p50(), 0.3);
    EXPECT_DOUBLE_EQ(verdict.max(), 0.5);
}

TEST(DrillVerdict, says_in_words_what_went_wrong) {
    const Verdict late{&row, {2.0}, {"run 2: a once job started twice"}};
    EXPECT_EQ(complaint_of(late),
              "    run 2: a once job started twice\n"
              "    it took 2.00 s where 1 s are allowed\n");
    EXPECT_EQ(complaint_of(Verdict{&row, {0.5}, {}}), "");
}

TEST(DrillVerdict, has_no_colours_unless_somebody_looks) {
    const Verdict good{&row, {0.5}, {}};
    EXPECT_EQ(line_of(good, false).find('\x1b'), std::string::npos);
    EXPECT_NE(line_of(good, true).find('\x1b'), std::string::npos);
    EXPECT_EQ(line_of(good, false),
              "✓ worker is killed                                     170 s      1 s   0.50 s   "
              "0.50 s\n");
}

TEST(DrillVerdict, is_an_array_of_objects_for_programs) {
    EXPECT_EQ(as_json({{&row, {0.25}, {}}}),
              R"([{"failure":"worker","old_s":170.000,"bound_s":1.000,"runs":1,"p50_s":0.250,)"
              R"("max_s":0.250,"ok":true,"verdict":"ok","stall_s":0.000,)"
              R"("what":"worker is killed","wrong":[]}])"
              "\n");
}

TEST(DrillVerdict, tells_the_truth_in_its_last_sentence) {
    const std::vector<Verdict> good{{&row, {0.25}, {}}};
    const std::vector<Verdict> bad{{&row, {0.25}, {"x"}}};
    EXPECT_NE(summary_of(good, 50, 3).find("every repair was within its bound"), std::string::npos);
    EXPECT_NE(summary_of(bad, 50, 3).find("1 of the kinds did not"), std::string::npos);
}

TEST(DrillRows, are_all_complete_and_have_names_of_their_own) {
    std::set<std::string_view> names;
    for (const auto& each : rows()) {
        EXPECT_TRUE(names.insert(each.name).second) << each.name;
        EXPECT_NE(each.run, nullptr) << each.name;
        EXPECT_GT(each.bound_s, 0) << each.name;
        EXPECT_FALSE(each.sentence.empty() || each.failure.empty()) << each.name;
        EXPECT_LT(each.failure.size(), 40U) << each.failure;
    }
}

}  // namespace
}  // namespace perdure::drill
