#include "client/parts.h"

#include <gtest/gtest.h>

#include <memory>

#include "wire/log_frames.h"
#include "wire/worker_json.h"

namespace perdure {
namespace {

constexpr std::size_t body_max = std::size_t{16} << 20;

TEST(Parts, of_a_small_report_are_one) {
    ReportRequest request{.session = SessionId{1}};
    request.items.resize(1000);
    const auto parts = split(request);
    ASSERT_EQ(parts.size(), 1U);
    EXPECT_EQ(parts.front().items.size(), 1000U);
    EXPECT_EQ(parts.front().session, SessionId{1});
    EXPECT_TRUE(split(ReportRequest{}).empty());
}

TEST(Parts, of_large_results_each_fit_into_one_request_and_keep_their_order) {
    ReportRequest request{.session = SessionId{1}};
    // Control characters are the worst: each becomes six.
    const auto evidence =
        std::make_shared<const Evidence>(Evidence{.result = std::string(result_max, '\x01')});
    for (std::uint32_t i = 1; i <= 20; ++i)
        request.items.push_back({.attempt = {JobId{7}, Epoch{i}}, .evidence = evidence});
    std::uint32_t next = 1;
    for (const auto& part : split(request)) {
        EXPECT_LT(json_text(part).size(), body_max);
        for (const auto& item : part.items) EXPECT_EQ(item.attempt.epoch.value, next++);
    }
    EXPECT_EQ(next, 21U);
}

TEST(Parts, of_logs_each_fit_into_one_request) {
    LogRequest request{.session = SessionId{1}};
    for (std::uint64_t i = 0; i < 500; ++i)
        request.chunks.push_back({{JobId{7}, Epoch{1}}, i, std::string(log_chunk_max, 'x')});
    std::uint64_t next = 0;
    for (const auto& part : split(request)) {
        EXPECT_LT(log_frames(part.chunks).size(), body_max);
        for (const auto& chunk : part.chunks) EXPECT_EQ(chunk.offset, next++);
    }
    EXPECT_EQ(next, 500U);
}

}  // namespace
}  // namespace perdure
