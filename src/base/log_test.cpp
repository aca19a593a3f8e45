#include "base/log.h"

#include <gtest/gtest.h>

#include <string>

namespace perdure {

// Counts how often it is formatted.
struct Costly {
    int* formatted;
};

}  // namespace perdure

template <>
struct fmt::formatter<perdure::Costly> : fmt::formatter<int> {
    template <class Context>
    auto format(const perdure::Costly& costly, Context& context) const {
        return fmt::formatter<int>::format(++*costly.formatted, context);
    }
};

namespace perdure::log_test {
namespace {

class Lines : public LogSink {
public:
    explicit Lines(Level least) : least_(least) {}
    bool wants(Level level) const override { return level >= least_; }
    void write(Level level, std::string_view component, std::string_view event,
               const std::vector<Field>& fields) override {
        text += fmt::format("{} {}: {}", to_string(level), component, event);
        for (const auto& field : fields) text += fmt::format(" {}={}", field.name, field.value);
        text += "\n";
    }
    std::string text;

private:
    Level least_;
};

TEST(Log, writes_the_event_with_its_fields_in_their_order) {
    Lines lines(Level::debug);
    const Log log(lines, "sweeper");
    log.write(Level::warn, "attempt lost", "job", "abc", "epoch", 3);
    log.write(Level::info, "swept");
    EXPECT_EQ(lines.text, "warn sweeper: attempt lost job=abc epoch=3\ninfo sweeper: swept\n");
}

TEST(Log, formats_nothing_that_the_sink_does_not_want) {
    Lines lines(Level::error);
    const Log log(lines, "server");
    int formatted = 0;
    log.write(Level::info, "claimed", "costly", Costly{&formatted});
    EXPECT_EQ(formatted, 0);
    EXPECT_EQ(lines.text, "");
    log.write(Level::critical, "claimed", "costly", Costly{&formatted});
    EXPECT_EQ(formatted, 1);
}

TEST(Log, without_a_sink_is_silent) {
    int formatted = 0;
    Log{}.write(Level::critical, "nobody listens", "costly", Costly{&formatted});
    EXPECT_EQ(formatted, 0);
}

TEST(Level, every_level_has_a_spelling_of_its_own) {
    std::string all;
    for (int i = 0; i <= static_cast<int>(Level::critical); ++i)
        all += std::string(to_string(static_cast<Level>(i))) + " ";
    EXPECT_EQ(all, "debug info warn error critical ");
}

}  // namespace
}  // namespace perdure::log_test
