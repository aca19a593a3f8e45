// The audit log on a real disk: bounded, never in the way of whoever appends, and nothing is lost
// in silence.
#include "platform/audit_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "base/assert.h"

namespace perdure {
namespace {

const auto day = WallTime{1'763'500'000'000'000};  // 2025-11-18, in the evening

// What the process' log was told.
class Said final : public LogSink {
public:
    bool wants(Level) const override { return true; }
    void write(Level level, std::string_view, std::string_view event,
               const std::vector<Field>&) override {
        const std::lock_guard lock(mutex_);
        said_.emplace_back(level, std::string(event));
    }
    bool has(Level level, std::string_view word) {
        const std::lock_guard lock(mutex_);
        return std::any_of(said_.begin(), said_.end(), [&](const auto& one) {
            return one.first == level && one.second.find(word) != std::string::npos;
        });
    }

private:
    std::mutex mutex_;
    std::vector<std::pair<Level, std::string>> said_;
};

class AuditOnDisk : public testing::Test {
protected:
    AuditOnDisk() {
        auto path = (std::filesystem::temp_directory_path() / "perdure-audit-XXXXXX").string();
        PERDURE_ASSERT(::mkdtemp(path.data()) != nullptr);
        folder = path;
    }
    ~AuditOnDisk() override { std::filesystem::remove_all(folder); }

    std::unique_ptr<AuditFile> open(AuditOptions options = {}) {
        options.gather = Duration{};
        auto file = AuditFile::open(folder, Log(said, "audit"), options);
        PERDURE_ASSERT(file.has_value());
        return std::move(*file);
    }
    static AuditPage read(AuditFile& audit, AuditQuery query = {}) {
        boost::asio::io_context loop;
        std::optional<Result<AuditPage>> page;
        auto task = [&]() -> Task<void> { page = co_await audit.read(query); };
        boost::asio::co_spawn(loop, task, [](std::exception_ptr failure) {
            if (failure) std::rethrow_exception(failure);
        });
        loop.run();
        PERDURE_ASSERT(page && page->has_value());
        return **page;
    }
    // Every line, page by page.
    static std::vector<std::string> read_all(AuditFile& audit, AuditQuery query = {}) {
        std::vector<std::string> all;
        for (int pages = 0; pages < 10'000; ++pages) {
            const auto page = read(audit, query);
            all.insert(all.end(), page.lines.begin(), page.lines.end());
            if (!page.next) return all;
            query.before = page.next;
        }
        ADD_FAILURE() << "the pages do not end";
        return all;
    }
    std::uintmax_t bytes_of(std::string_view series) const {
        std::uintmax_t bytes = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder + "/audit"))
            if (entry.path().filename().string().starts_with(series)) bytes += entry.file_size();
        return bytes;
    }

    Said said;
    std::string folder;
};

AuditRecord act(const std::string& who, WallTime at = day, unsigned status = 200) {
    return {.at = at, .who = who, .action = "POST /v1/jobs/{}/cancel", .status = status};
}
bool has(const std::string& line, std::string_view word) {
    return line.find(word) != std::string::npos;
}

TEST_F(AuditOnDisk, it_tells_the_newest_first_and_survives_a_restart) {
    {
        const auto audit = open();
        audit->append(act("alice"));
        audit->append(act("mallory", day, 403));
    }
    const auto audit = open();
    audit->append(act("carol \"c\""));
    const auto all = read(*audit).lines;
    ASSERT_EQ(all.size(), 3U);
    EXPECT_TRUE(has(all[0], "carol \\\"c\\\"") && has(all[0], "{\"seq\":3,"));
    EXPECT_TRUE(has(all[1], "mallory") && has(all[1], "\"seq\":2,"));
    EXPECT_TRUE(has(all[2], "\"who\":\"alice\""));
    EXPECT_EQ(read(*audit, {.word = "alice"}).lines, std::vector{all[2]});
    EXPECT_EQ(read(*audit, {.word = "", .before = 3}).lines.size(), 2U);
}

TEST_F(AuditOnDisk, what_came_just_before_its_end_is_there) {
    for (int i = 0; i < 20; ++i) {
        const auto audit = open();
        const auto before = audit->counts().bytes;
        audit->append(act("alice"));
        while (audit->counts().bytes == before) std::this_thread::yield();
        // The first line is written, and is being brought to the disk.
        audit->append(act("mallory", day, 403));
    }
    EXPECT_EQ(read_all(*open(), {.word = "", .limit = 1'000}).size(), 40U);
}

TEST_F(AuditOnDisk, every_line_is_on_exactly_one_page_whatever_their_size) {
    const auto audit =
        open({.acts = {.file_max = 300'000}, .refusals_per_second = 1'000'000, .page_bytes = 1});
    constexpr std::uint64_t count = 5'000;
    for (std::uint64_t i = 0; i < count; ++i)
        audit->append(act("n" + std::to_string(i), day, i % 3 == 0 ? 403 : 200));
    audit->run_ready();
    for (const std::uint32_t limit : {7U, 1'000U}) {
        const auto all = read_all(*audit, {.word = "", .limit = limit});
        ASSERT_EQ(all.size(), count);
        for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(audit_number(all[i]), count - i);
    }
    EXPECT_EQ(read_all(*audit, {.word = "\"n17\""}).size(), 1U);
}

TEST_F(AuditOnDisk, a_page_reads_a_bounded_number_of_bytes_wherever_it_begins) {
    const auto audit = open({.page_bytes = 300'000});
    for (int i = 0; i < 20'000; ++i) audit->append(act("alice"));
    audit->run_ready();
    const auto page = read(*audit, {.word = "nobody"});
    EXPECT_TRUE(page.lines.empty());
    ASSERT_TRUE(page.next);
    EXPECT_GT(*page.next, 15'000U) << "it has looked at a few thousand lines";
    const auto later = read(*audit, {.word = "", .before = 500, .limit = 1});
    ASSERT_EQ(later.lines.size(), 1U);
    EXPECT_EQ(audit_number(later.lines.front()), 499U);
    EXPECT_FALSE(read(*audit, {.word = "nobody", .before = 500}).next)
        << "what is behind its beginning was not read";
}

TEST_F(AuditOnDisk, what_is_too_much_goes_before_its_time_and_that_is_said) {
    const auto audit = open({.acts = {.file_max = 1'000, .bytes_max = 3'000}, .tell_every = {}});
    for (int i = 0; i < 200; ++i) {
        audit->append(act("n" + std::to_string(i)));
        audit->run_ready();
    }
    EXPECT_LE(bytes_of("acts"), 3'000U);
    EXPECT_GT(audit->counts().files_cut, 5U);
    EXPECT_EQ(audit->counts().bytes, bytes_of("acts"));
    EXPECT_TRUE(said.has(Level::error, "went before their time"));
    const auto all = read_all(*audit);
    EXPECT_GT(all.size(), 10U);
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const auto& line) {
        return has(line, "files removed before their time");
    }));
}

TEST_F(AuditOnDisk, a_line_is_kept_for_ninety_days_and_not_much_longer) {
    const Fd directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY));
    AuditSeries series(directory.get(), "acts", {});
    for (int i = 0; i < 120; ++i) {
        const auto now = day + days(i);
        const auto number = static_cast<std::uint64_t>(i) + 1;
        ASSERT_EQ(series.append("{\"seq\":" + std::to_string(number) + "}\n", number, now), 0);
        ASSERT_EQ(series.remove_old(now), 0U);
    }
    const auto left = audit_files(directory.get(), "acts").size();
    EXPECT_GE(left, 91U);
    EXPECT_LE(left, 93U);
}

TEST_F(AuditOnDisk, a_clock_that_jumps_does_not_empty_it) {
    const Fd directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY));
    AuditSeries series(directory.get(), "acts", {});
    for (std::uint64_t i = 1; i <= 50; ++i)
        ASSERT_EQ(series.append("{\"seq\":1}\n", i, day + days(static_cast<int>(i))), 0);
    ASSERT_EQ(series.append("{\"seq\":51}\n", 51, day + days(10'000)), 0);
    EXPECT_EQ(series.remove_old(day + days(10'000)), 0U);
    EXPECT_GE(audit_files(directory.get(), "acts").size(), 49U);
}

TEST_F(AuditOnDisk, refusals_cannot_push_out_what_was_done) {
    const auto audit = open({.refusals = {.file_max = 1'000, .bytes_max = 2'000},
                             .refusals_per_second = 100,
                             .tell_every = {}});
    audit->append(act("alice"));
    for (int i = 0; i < 300; ++i) audit->append(act("", day, 401));
    audit->run_ready();
    EXPECT_EQ(audit->counts().refusals_left_out, 200U);
    EXPECT_EQ(audit->counts().refusals, 100U);
    const auto all = read_all(*audit);
    EXPECT_TRUE(has(all.back(), "alice"));
    EXPECT_LE(bytes_of("refusals"), 22'000U) << "one write of a whole second";
    audit->run_ready();
    EXPECT_EQ(read_all(*audit, {.word = "refusals left out"}).size(), 1U);
}

// 38,000 of them are one line a minute for each caller.
TEST_F(AuditOnDisk, what_happens_all_the_time_is_added_up) {
    {
        const auto audit = open({.counted_max = 2});
        for (int i = 0; i < 38'000; ++i) audit->count("alice", "POST /v1/jobs", 201);
        audit->count("bob", "POST /v1/jobs", 429);
        for (int i = 0; i < 5; ++i) audit->count("x" + std::to_string(i), "POST /v1/jobs", 201);
        EXPECT_EQ(audit->counts().acts, 0U);
    }
    const auto audit = open();
    const auto all = read_all(*audit);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(read_all(*audit, {.word = "\"count\":38000"}).size(), 1U);
    EXPECT_EQ(read_all(*audit, {.word = "(others)"}).size(), 1U);
}

// While it lives no file can have more bytes, as on a full disk.
class FullDisk {
public:
    explicit FullDisk(std::uintmax_t bytes) {
        ::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &usual_);
        const rlimit full{.rlim_cur = bytes, .rlim_max = usual_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &full);
    }
    ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &usual_); }

private:
    rlimit usual_{};
};

TEST_F(AuditOnDisk, what_a_full_disk_does_not_take_waits_and_what_is_lost_is_told) {
    const auto audit = open({.waiting_max = 2'000, .tell_every = {}});
    audit->append(act("before"));
    audit->run_ready();
    {
        const FullDisk full(bytes_of("acts") + 30);  // a part of a line is written
        for (int i = 0; i < 100; ++i) audit->append(act("n" + std::to_string(i)));
        audit->run_ready();
    }
    const auto lost = audit->counts().lost;
    EXPECT_GT(lost, 50U);
    EXPECT_TRUE(said.has(Level::error, "cannot be written"));
    EXPECT_TRUE(said.has(Level::critical, "are lost"));
    audit->run_ready();
    audit->run_ready();
    const auto all = read_all(*audit);
    const auto cancels = std::count_if(all.begin(), all.end(),
                                       [](const auto& line) { return has(line, "/cancel"); });
    EXPECT_EQ(static_cast<std::uint64_t>(cancels), 101 - lost)
        << "what had room is all there, once";
    for (const auto& line : all)
        EXPECT_EQ(line.find("\"seq\""), line.rfind("\"seq\""))
            << "half of it came before: " << line;
    EXPECT_EQ(read_all(*audit, {.word = "lines lost"}).size(), 1U);
    EXPECT_TRUE(said.has(Level::warn, "can be written again"));
}

TEST_F(AuditOnDisk, what_cannot_be_written_at_its_end_is_said) {
    auto audit = open();
    const FullDisk full(1);
    audit->append(act("alice"));
    audit.reset();
    EXPECT_TRUE(said.has(Level::critical, "lines of the audit log are lost"));
}

TEST_F(AuditOnDisk, a_torn_end_is_mended_and_hurts_no_other_line) {
    {
        const auto audit = open();
        audit->append(act("alice"));
    }
    const Fd directory(::open((folder + "/audit").c_str(), O_RDONLY | O_DIRECTORY));
    const auto name = audit_files(directory.get(), "acts").front().text;
    std::ofstream(folder + "/audit/" + name, std::ios::app)
        << "{\"seq\":2,\"who\":\"bo" << std::string(100, '\0');
    const auto audit = open();
    audit->append(act("carol"));
    audit->run_ready();
    const auto all = read_all(*audit);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_TRUE(has(all[0], "carol") && has(all[1], "alice"));
    EXPECT_FALSE(has(all[0], "\"bo")) << "the torn one has a line of its own";
    EXPECT_GT(*audit_number(all[0]), 1U);
}

TEST_F(AuditOnDisk, a_link_in_its_place_is_refused) {
    std::filesystem::create_directory(folder + "/elsewhere");
    std::filesystem::create_symlink(folder + "/elsewhere", folder + "/audit");
    EXPECT_TRUE(AuditFile::open(folder, Log(said, "audit")).is(Errc::unavailable));
}

}  // namespace
}  // namespace perdure
