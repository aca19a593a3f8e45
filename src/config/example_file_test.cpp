#include "config/example_file.h"

#include <gtest/gtest.h>

#include <sstream>

#include "config/resolve.h"

namespace perdure {
namespace {

const HostFacts host{.host_name = "anvil", .cpus = 4, .home = "/there"};

// Every setting that stands behind a `#` is set; comments have a space after it.
std::string everything_set() {
    std::istringstream lines(example_file());
    std::string text;
    for (std::string line; std::getline(lines, line);)
        text +=
            (line.size() > 1 && line[0] == '#' && line[1] != ' ' ? line.substr(1) : line) + "\n";
    return text;
}

TEST(ExampleFile, as_it_stands_it_changes_nothing) {
    const auto defaults = resolve({.host = host});
    const auto read = resolve({.file = ConfigFile{"perdure.toml", example_file()}, .host = host});
    ASSERT_TRUE(defaults && read) << read.error().what;
    for (std::size_t i = 0; i < read->effective.size(); ++i) {
        EXPECT_EQ(read->effective[i].origin.kind, Origin::Kind::standard);
        EXPECT_EQ(read->effective[i].value, defaults->effective[i].value);
    }
}

TEST(ExampleFile, has_every_setting_and_its_default) {
    const auto defaults = resolve({.host = host});
    const auto read = resolve({.file = ConfigFile{"perdure.toml", everything_set()}, .host = host});
    ASSERT_TRUE(defaults && read) << read.error().what;
    ASSERT_EQ(read->effective.size(), settings().size());
    for (std::size_t i = 0; i < read->effective.size(); ++i) {
        const auto& setting = *read->effective[i].setting;
        EXPECT_EQ(read->effective[i].origin.kind, Origin::Kind::file) << setting.name;
        if (setting.standard.starts_with("(")) continue;  // worked out on each machine
        EXPECT_EQ(read->effective[i].value, defaults->effective[i].value) << setting.name;
    }
}

}  // namespace
}  // namespace perdure
