#include "shim/output_log.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "shim/format/attempt_files.h"

namespace perdure::output_log_test {
namespace {

class OutputLogTest : public testing::Test {
protected:
    OutputLogTest() {
        std::string pattern = std::filesystem::temp_directory_path() / "perdure-test-XXXXXX";
        root_ = ::mkdtemp(pattern.data());
        directory_.reset(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }
    ~OutputLogTest() override { std::filesystem::remove_all(root_); }

    std::string kept() {
        return read_file(directory_.get(), attempt_files::output, 1 << 20).value_or("none");
    }
    // What is left of `text`, printed in pieces of that size.
    std::string kept_of(const std::string& text, std::uint64_t max, std::size_t piece) {
        std::filesystem::remove(root_ + "/output");
        OutputLog log(directory_.get(), max);
        for (std::size_t at = 0; at < text.size(); at += piece) log.add(text.substr(at, piece));
        log.finish();
        EXPECT_EQ(log.printed(), text.size());
        EXPECT_EQ(log.cut(), text.size() - std::min<std::uint64_t>(max, text.size()));
        EXPECT_FALSE(std::filesystem::exists(root_ + "/output.tail"));
        return kept();
    }

    std::string root_;
    Fd directory_;
};

TEST_F(OutputLogTest, silence_leaves_no_file) {
    OutputLog log(directory_.get(), 100);
    log.finish();
    EXPECT_EQ(kept(), "none");
    EXPECT_EQ(log.last_lines(10, 5), "");
}

TEST_F(OutputLogTest, all_is_kept_up_to_the_cap) {
    for (std::size_t piece = 1; piece <= 12; ++piece)
        EXPECT_EQ(kept_of("0123456789", 10, piece), "0123456789") << piece;
}

TEST_F(OutputLogTest, both_ends_are_kept_above_it_however_it_arrives) {
    const std::string text = "0123456789abcdefghijklmnopqrstuvwxyz";
    for (std::size_t piece = 1; piece <= text.size(); ++piece)
        EXPECT_EQ(kept_of(text, 10, piece), "01234\n[perdure: 26 bytes left out]\nvwxyz") << piece;
}

TEST_F(OutputLogTest, a_cap_of_nothing_keeps_the_count) {
    EXPECT_EQ(kept_of("0123456789", 0, 3), "\n[perdure: 10 bytes left out]\n");
}

TEST_F(OutputLogTest, the_beginning_can_be_read_while_it_goes_on) {
    OutputLog log(directory_.get(), 10);
    log.add("0123");
    EXPECT_EQ(kept(), "0123");
    log.add("456789");
    EXPECT_EQ(kept(), "01234");
}

TEST_F(OutputLogTest, last_lines_are_whole_if_they_can_be) {
    OutputLog log(directory_.get(), 1'000);
    log.add("first line\nsecond line\nthird");
    log.finish();
    EXPECT_EQ(log.last_lines(1'000, 5), "first line\nsecond line\nthird");
    EXPECT_EQ(log.last_lines(20, 5), "second line\nthird");
    EXPECT_EQ(log.last_lines(4, 5), "hird");
    EXPECT_EQ(log.last_lines(1'000, 2), "second line\nthird");
}

TEST_F(OutputLogTest, last_lines_are_as_many_as_asked_for) {
    OutputLog log(directory_.get(), 1'000);
    log.add("\n2\n\n4\n");
    log.finish();
    EXPECT_EQ(log.last_lines(1'000, 1), "4\n");
    EXPECT_EQ(log.last_lines(1'000, 2), "\n4\n");
    EXPECT_EQ(log.last_lines(1'000, 3), "2\n\n4\n");
    EXPECT_EQ(log.last_lines(1'000, 4), "\n2\n\n4\n");
    EXPECT_EQ(log.last_lines(1'000, 9), "\n2\n\n4\n");
}

}  // namespace
}  // namespace perdure::output_log_test
