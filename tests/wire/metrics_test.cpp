// docs/metrics.md explains every metric that a server exports, and no other.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "platform/process_metrics.h"
#include "tests/wire/live_server.h"

namespace perdure::wire_tests {
namespace {

std::set<std::string> names_in(const std::string& text, const std::regex& pattern) {
    std::set<std::string> names;
    for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
        names.insert((*it)[1].str() + " " + (*it)[2].str());
    return names;
}

TEST(Metrics, are_all_explained_with_their_types) {
    LiveServer server(ApiOptions{.append_metrics = append_process_metrics});
    ApiClient client(server.client_options());
    const auto metrics = client.request("GET", "/metrics");
    ASSERT_TRUE(metrics);
    std::ifstream file(PERDURE_DOCS "/metrics.md");
    std::ostringstream page;
    page << file.rdbuf();
    const auto exported = names_in(metrics->text, std::regex("# TYPE (\\w+) (\\w+)"));
    const auto explained = names_in(page.str(), std::regex("\\| `(\\w+)[^`]*` \\| (\\w+) \\|"));
    EXPECT_FALSE(exported.empty());
    EXPECT_EQ(exported, explained);
}

}  // namespace
}  // namespace perdure::wire_tests
