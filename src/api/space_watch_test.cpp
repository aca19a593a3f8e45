#include "api/space_watch.h"

#include <gtest/gtest.h>

namespace perdure {
namespace {

constexpr std::uint64_t space_mib = std::uint64_t{1} << 20;

class SmallDisk final : public Space {
public:
    std::optional<SpaceView> look() const override { return view; }
    std::optional<SpaceView> view = SpaceView{.files = {{"perdure.db", 7}},
                                              .free_bytes = 300 * space_mib,
                                              .disk_bytes = 10'000 * space_mib};
};

std::string metrics_of(const SpaceWatch& watch) {
    MetricsText text;
    watch.append(text);
    return text.take();
}

TEST(SpaceWatch, refuses_below_the_reserve_with_a_sentence_and_passes) {
    SmallDisk disk;
    SpaceWatch watch(&disk, 256 * space_mib);
    BootTime now{1};
    EXPECT_FALSE(watch.why_no_submits(now));
    disk.view->free_bytes = 255 * space_mib;
    EXPECT_FALSE(watch.why_no_submits(now)) << "it does not look each time";
    now = now + seconds(1);
    const auto why = watch.why_no_submits(now);
    ASSERT_TRUE(why);
    EXPECT_EQ(why->code, Errc::overloaded);
    EXPECT_NE(why->what.find("255 MiB are free"), std::string::npos) << why->what;
    disk.view->free_bytes = 256 * space_mib;
    EXPECT_FALSE(watch.why_no_submits(now + seconds(1)));
}

TEST(SpaceWatch, refuses_nothing_if_nobody_can_say) {
    SmallDisk disk;
    disk.view.reset();
    SpaceWatch unknown(&disk, 256 * space_mib);
    EXPECT_FALSE(unknown.why_no_submits(BootTime{1}));
    SpaceWatch none(nullptr, 256 * space_mib);
    EXPECT_FALSE(none.why_no_submits(BootTime{1}));
    EXPECT_EQ(metrics_of(none).find("\nperdure_"), std::string::npos);
}

TEST(SpaceWatch, tells_sizes_and_what_is_free) {
    SmallDisk disk;
    const auto text = metrics_of(SpaceWatch(&disk, 256 * space_mib));
    EXPECT_NE(text.find("perdure_store_bytes{file=\"perdure.db\"} 7\n"), std::string::npos);
    EXPECT_NE(text.find("perdure_disk_free_bytes 314572800\n"), std::string::npos);
    EXPECT_NE(text.find("perdure_disk_reserve_bytes 268435456\n"), std::string::npos);
}

}  // namespace
}  // namespace perdure
