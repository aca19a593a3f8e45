#include "store/engine/overdue.h"

#include <gtest/gtest.h>

#include <map>

namespace perdure::store {
namespace {

// Rows that no store can have in any number without a bug of ours.
class OverdueRows : public OverdueReader {
public:
    std::map<Permit, ShapeId> shapes;  // a job of each of so many is blocked on it
    std::map<ShapeId, std::uint32_t> unoffered;
    std::uint32_t free = 1;
    int looks = 0;

    std::vector<Wake> wakes(ServiceTime, std::uint32_t) override { return {}; }
    std::vector<JobId> dates(WallTime, std::uint32_t) override { return {}; }
    std::optional<Permit> blocked_permit(const std::optional<Permit>& behind) override {
        ++looks;
        const auto next = behind ? shapes.upper_bound(*behind) : shapes.begin();
        if (next == shapes.end()) return std::nullopt;
        return next->first;
    }
    std::optional<ShapeId> blocked_shape(const Permit& permit, ShapeId behind) override {
        ++looks;
        if (behind == shapes.at(permit)) return std::nullopt;
        return behind + 1;
    }
    std::uint32_t free_of(const Permit&) override { return free; }
    std::uint32_t wanting(const Permit&, ShapeId shape, std::uint32_t enough) override {
        return unoffered.contains(shape) ? 0 : enough;
    }
};

Permit limit(const std::string& name) { return {Permit::Kind::limit, "default", name}; }

TEST(OverdueViews, go_on_where_the_last_one_stopped_however_many_shapes_wait_for_one_thing) {
    OverdueRows rows;
    rows.shapes = {{limit("pool"), 100'000}, {limit("q"), 1}};
    rows.unoffered = {{99'999, 1}};
    OverdueViews views;
    std::vector<Permit> found;
    for (int i = 0; i < 110 && found.empty(); ++i) {
        rows.looks = 0;
        found = views.show(rows, {}, {}, 10).free_permits;
        EXPECT_LE(rows.looks, 1'001);
    }
    EXPECT_EQ(found, std::vector{limit("pool")});
}

TEST(OverdueViews, name_each_thing_once_and_begin_again_at_the_end) {
    OverdueRows rows;
    rows.shapes = {{limit("a"), 3}, {limit("b"), 3}, {limit("c"), 3}};
    rows.unoffered = {{1, 1}, {2, 1}};
    OverdueViews views;
    const std::vector all{limit("a"), limit("b"), limit("c")};
    EXPECT_EQ(views.show(rows, {}, {}, 10).free_permits, all);
    EXPECT_EQ(views.show(rows, {}, {}, 10).free_permits, all);
    EXPECT_EQ(views.show(rows, {}, {}, 2).free_permits, (std::vector{all[0], all[1]}));
    EXPECT_EQ(views.show(rows, {}, {}, 2).free_permits, std::vector{all[2]});
    rows.free = 0;
    EXPECT_TRUE(views.show(rows, {}, {}, 10).free_permits.empty());
}

}  // namespace
}  // namespace perdure::store
