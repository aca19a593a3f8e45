#include "store/engine/state/fronts.h"

#include <gtest/gtest.h>

#include <random>
#include <tuple>
#include <utility>

namespace perdure::store {
namespace {

// Three tenants, queues, kinds and shares, and nothing in any line.
struct Fixture {
    Pending pending;
    DamageBook book;
    Shapes shapes{Contents{}, pending, book};
    const QueueWeights weights{{{"b", 2}, {"c", 3}}};
    Fronts fronts{shapes, weights};
    const std::vector<std::string> names{"a", "b", "c"};

    Fixture() {
        for (const auto& tenant : names)
            for (const auto& queue : names)
                for (const auto& kind : names)
                    for (const auto& share : names) shapes.id_of({tenant, queue, kind, share});
    }

    ShapeId id(const char* queue, const char* kind) { return shapes.id_of({"a", queue, kind, ""}); }
    void pause(const std::string& tenant, const std::string& queue, bool paused) {
        if (shapes.pause(tenant, queue, paused)) fronts.ranking().note_pause(tenant, queue);
    }
    std::optional<Fronts::Head> first(const Offer& offer) { return fronts.ranking().first(offer); }
};

QueuePosition order(std::uint64_t job, std::uint8_t priority = 5) {
    return {.priority = priority, .job = JobId{job}};
}

JobId job_of(const std::optional<Fronts::Head>& head) { return head ? head->order.job : JobId{}; }

// All lines as they are, and what is found by looking at each of them.
class Model {
public:
    explicit Model(std::uint64_t seed) : random_(seed) {}

    void step();
    void compare();

private:
    struct Line {
        std::set<QueuePosition> jobs;
        bool is_hidden = false;
    };
    std::uint64_t below(std::uint64_t end) { return random_() % end; }
    const std::string& name() { return of_.names[below(of_.names.size())]; }
    std::vector<std::string> some_names();
    Shape shape() { return {name(), name(), name(), name()}; }
    void enter(ShapeId id);
    void leave(ShapeId id);
    void read(ShapeId id);
    void read_all();
    std::optional<Fronts::Head> find_first(const Offer& offer);
    std::optional<Fronts::Head> first(const Offer& offer);
    void count(ShapeId id, int step);
    void claim();

    // The same turns, and what is counted to know who waits.
    struct Share {
        Turn turn;
        int jobs = 0;
    };
    struct Queue {
        Turn turn;
        Turns turns;
        int jobs = 0;
        std::map<std::string, Share> shares;
    };
    struct Tenant {
        Turns turns;
        std::map<std::string, Queue> queues;
    };
    using Rank = std::tuple<std::uint8_t, bool, TurnRank, TurnRank, ServiceTime, JobId>;
    Rank rank(const Fronts::Head& head);
    Queue& queue_of(const Shape& shape);
    void update(const Shape& shape);

    std::map<std::string, Tenant> tenants_;
    Fixture of_;
    std::mt19937_64 random_;
    std::map<ShapeId, Line> lines_;
    std::uint64_t jobs_ = 0;
};

std::vector<std::string> Model::some_names() {
    std::vector<std::string> some;
    for (const auto& each : of_.names)
        if (below(3) == 0) some.push_back(each);
    if (below(4) == 0) some.push_back("unknown");
    return some;
}

Model::Queue& Model::queue_of(const Shape& shape) {
    auto& queue = tenants_[shape.tenant].queues[shape.queue];
    queue.turn.weight = of_.weights.of(shape.queue);
    return queue;
}

void set_waiting(Turns& turns, Turn& turn, bool waits) {
    if (waits && !turn.waits) turns.enter(turn);
    if (!waits && turn.waits) turns.leave(turn);
}

void Model::update(const Shape& shape) {
    auto& queue = queue_of(shape);
    for (auto& [name, share] : queue.shares) set_waiting(queue.turns, share.turn, share.jobs > 0);
    const bool is_paused = of_.shapes.is_paused(shape.tenant, shape.queue);
    set_waiting(tenants_[shape.tenant].turns, queue.turn, queue.jobs > 0 && !is_paused);
}

void Model::count(ShapeId id, int step) {
    const auto& shape = of_.shapes.shape(id);
    of_.shapes.add(id, JobState::ready, step);
    auto& queue = queue_of(shape);
    queue.jobs += step;
    queue.shares[shape.share].jobs += step;
    update(shape);
}

void Model::enter(ShapeId id) {
    auto entered = order(++jobs_, static_cast<std::uint8_t>(below(4)));
    entered.in_turn = below(8) != 0;
    lines_[id].jobs.insert(entered);
    count(id, 1);
    of_.fronts.enter(id, entered);
}

// As one does: what is first leaves, and is charged for.
void Model::claim() {
    read_all();
    const Offer offer{.tenant = name(), .queues = some_names(), .kinds = some_names()};
    const auto head = first(offer);
    if (!head) return;
    const auto& shape = of_.shapes.shape(head->shape);
    auto& queue = queue_of(shape);
    tenants_[shape.tenant].turns.charge(queue.turn);
    queue.turns.charge(queue.shares[shape.share].turn);
    of_.fronts.ranking().charge(head->shape);
    lines_[head->shape].jobs.erase(head->order);
    count(head->shape, -1);
    of_.fronts.leave(head->shape, head->order);
}

// The first one mostly, as claims do.
void Model::leave(ShapeId id) {
    auto& jobs = lines_[id].jobs;
    if (jobs.empty()) return;
    const auto at = std::next(jobs.begin(),
                              static_cast<std::ptrdiff_t>(below(2) == 0 ? 0 : below(jobs.size())));
    const auto left = *at;
    jobs.erase(at);
    count(id, -1);
    of_.fronts.leave(id, left);
}

void Model::step() {
    const auto id = of_.shapes.id_of(shape());
    switch (below(19)) {
        case 0: {
            const Shape queue{name(), name(), "", ""};
            of_.pause(queue.tenant, queue.queue, below(2) == 0);
            return update(queue);
        }
        case 1: lines_[id].is_hidden = true; return of_.fronts.hide(id);
        case 2:
        case 3: lines_[id].is_hidden = false; return of_.fronts.show(id);
        case 4:
            if (!lines_[id].jobs.empty()) of_.fronts.forget_front(id);
            return;
        case 5:
            for (int i = 0; i < 100; ++i) enter(id);
            return;
        case 6:
            for (int i = 0; i < 100; ++i) leave(id);
            return;
        case 7:
        case 8:
        case 9:
        case 10: return claim();
        default: return below(2) == 0 ? enter(id) : leave(id);
    }
}

void Model::read(ShapeId id) {
    const auto behind = of_.fronts.read_from(id);
    const auto& rows = lines_[id].jobs;
    const auto begin = behind ? rows.upper_bound(*behind) : rows.begin();
    auto end = begin;
    for (auto max = 1 + below(5); max > 0 && end != rows.end(); --max) ++end;
    of_.fronts.read(id, {begin, end}, end == rows.end());
}

void Model::read_all() {
    for (const auto& tenant : of_.names) {
        const auto& unread = of_.fronts.unread(tenant);
        while (!unread.empty()) read(*unread.begin());
    }
}

// Reads whatever is listed by one who has left, and comes first.
std::optional<Fronts::Head> Model::find_first(const Offer& offer) {
    for (;;) {
        const auto head = of_.first(offer);
        if (!head || of_.fronts.knows_first_of(head->shape)) return head;
        read(head->shape);
    }
}

Model::Rank Model::rank(const Fronts::Head& head) {
    const auto& shape = of_.shapes.shape(head.shape);
    const auto& queue = queue_of(shape);
    const auto& [priority, behind, since, job] = head.order;
    return {priority, behind, queue.turn.rank, queue.shares.at(shape.share).turn.rank, since, job};
}

std::optional<Fronts::Head> Model::first(const Offer& offer) {
    std::optional<Fronts::Head> first;
    for (const auto& [id, line] : lines_) {
        const auto& shape = of_.shapes.shape(id);
        if (line.jobs.empty() || line.is_hidden || !matches(offer, shape)) continue;
        if (of_.shapes.is_paused(shape.tenant, shape.queue)) continue;
        const Fronts::Head head{*line.jobs.begin(), id};
        if (!first || rank(head) < rank(*first)) first = head;
    }
    return first;
}

void Model::compare() {
    read_all();
    const Offer offer{.tenant = name(), .queues = some_names(), .kinds = some_names()};
    ASSERT_EQ(find_first(offer), first(offer));
    const Offer all{.tenant = name()};
    ASSERT_EQ(find_first(all), first(all));
}

TEST(Fronts, find_what_is_found_by_looking_at_every_line) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(seed);
        Model model(seed);
        for (int i = 0; i < 3'000; ++i) {
            model.step();
            if (i % 3 == 0) model.compare();
            if (testing::Test::HasFatalFailure()) return;
        }
    }
}

TEST(Fronts, begin_with_all_lines_unread) {
    Fixture of;
    of.shapes.add(of.id("a", "b"), JobState::ready, 1);
    Fronts fronts(of.shapes, {});
    EXPECT_EQ(fronts.unread("a"), std::set{of.id("a", "b")});
    EXPECT_FALSE(fronts.ranking().first({.tenant = "a"}));
}

TEST(Fronts, know_an_empty_line_without_reading_it) {
    Fixture of;
    of.fronts.enter(of.id("a", "a"), order(1));
    EXPECT_TRUE(of.fronts.unread("a").empty());
    EXPECT_EQ(job_of(of.first({.tenant = "a"})), JobId{1});
}

TEST(Fronts, ask_for_a_line_to_be_read_when_what_is_known_is_used_up) {
    Fixture of;
    const auto id = of.id("a", "a");
    of.fronts.read(id, {order(1)}, false);
    EXPECT_TRUE(of.fronts.knows_first_of(id));
    of.fronts.leave(id, order(1));
    EXPECT_FALSE(of.fronts.knows_first_of(id));
}

TEST(Fronts, list_a_line_that_is_used_up_by_the_last_that_was_known) {
    Fixture of;
    const auto id = of.id("a", "a");
    const auto other = of.id("b", "a");
    of.fronts.read(id, {order(1), order(3)}, false);
    of.fronts.enter(other, order(2));
    of.fronts.leave(id, order(1));
    of.fronts.leave(id, order(3));
    EXPECT_TRUE(of.fronts.unread("a").empty());
    EXPECT_EQ(job_of(of.first({.tenant = "a"})), JobId{2});
    of.fronts.leave(other, order(2));
    EXPECT_EQ(job_of(of.first({.tenant = "a"})), JobId{3});
    EXPECT_FALSE(of.fronts.knows_first_of(id));
    EXPECT_EQ(of.fronts.read_from(id), order(3));
    of.fronts.read(id, {}, true);
    EXPECT_FALSE(of.first({.tenant = "a"}));
}

TEST(Fronts, read_a_line_anew_that_somebody_has_entered_before_the_last_that_was_known) {
    Fixture of;
    const auto id = of.id("a", "a");
    of.fronts.read(id, {order(3)}, false);
    of.fronts.leave(id, order(3));
    of.fronts.enter(id, order(4));
    EXPECT_TRUE(of.fronts.unread("a").empty());
    of.fronts.enter(id, order(2));
    EXPECT_EQ(of.fronts.unread("a"), std::set{id});
    EXPECT_FALSE(of.fronts.read_from(id));
    EXPECT_FALSE(of.first({.tenant = "a"}));
}

TEST(Fronts, read_on_behind_the_last_that_was_known) {
    Fixture of;
    const auto id = of.id("a", "a");
    for (std::uint64_t job = 1'000; job > 0; --job) of.fronts.enter(id, order(job));
    std::uint64_t left = 0;
    while (of.fronts.knows_first_of(id)) of.fronts.leave(id, order(++left));
    EXPECT_LT(left, 1'000U);
    EXPECT_EQ(of.fronts.read_from(id), order(left));
}

TEST(Fronts, leave_a_damaged_line_to_those_who_read_it) {
    Fixture of;
    const auto id = of.id("a", "a");
    of.fronts.read(id, {order(1)}, false);
    of.fronts.note_damaged(id);
    of.fronts.enter(id, order(2));
    EXPECT_FALSE(of.first({.tenant = "a"}));
    EXPECT_TRUE(of.fronts.unread("a").empty());
    EXPECT_EQ(of.fronts.damaged("a"), std::set{id});
}

TEST(Fronts, note_only_so_many_that_nobody_has_read) {
    Fixture of;
    const auto id = of.id("a", "a");
    for (std::uint64_t job = 1; job <= 100'000; ++job) of.fronts.enter(id, order(job));
    std::uint64_t left = 0;
    while (of.fronts.knows_first_of(id)) of.fronts.leave(id, order(++left));
    EXPECT_LE(left, 1'000U);
}

TEST(Fronts, read_less_of_each_line_the_more_lines_there_are) {
    Fixture of;
    EXPECT_EQ(of.fronts.read_max(1'000'000), 1'000U);
    EXPECT_EQ(of.fronts.load_max(), 1'000U);
    for (int i = 0; i < 20'000; ++i)
        of.fronts.enter(of.shapes.id_of({"a", std::to_string(i), "a", ""}), order(1));
    EXPECT_EQ(of.fronts.read_max(1'000), 2U);
    EXPECT_EQ(of.fronts.load_max(), 1U);
}

// Long fronts are there first; each further line takes from them, and leaves two.
TEST(Fronts, keep_to_their_budget_however_many_lines_there_are) {
    Fixture of;
    std::uint64_t job = 0;
    const auto shape = [&](int i) { return of.shapes.id_of({"a", std::to_string(i), "a", ""}); };
    for (int i = 0; i < 20; ++i) {
        std::vector<QueuePosition> front;
        for (int j = 0; j < 400; ++j) front.push_back(order(++job));
        of.fronts.read(shape(i), front, false);
    }
    EXPECT_EQ(of.fronts.jobs(), 8'000U);
    for (int i = 20; i < 2'000; ++i)
        for (int j = 0; j < 64; ++j) {
            of.fronts.enter(shape(i), order(++job));
            ASSERT_LE(of.fronts.jobs(), 8'192U);
        }
    EXPECT_GE(of.fronts.jobs(), 4'000U);
    for (int i = 2'000; i < 20'000; ++i) of.fronts.enter(shape(i), order(++job));
    EXPECT_LE(of.fronts.jobs(), 40'000U);
    EXPECT_TRUE(of.fronts.unread("a").empty());
    EXPECT_EQ(job_of(of.first({.tenant = "a"})), JobId{1});
}

// What was shortened is read again before anybody behind it is taken.
TEST(Fronts, read_on_where_a_line_was_made_shorter) {
    Fixture of;
    const auto id = of.id("a", "a");
    std::vector<QueuePosition> front;
    for (std::uint64_t job = 1; job <= 1'000; ++job) front.push_back(order(job));
    of.fronts.read(id, front, true);
    for (std::uint64_t i = 1; i < 9'000; ++i)
        for (const auto job : {i + 1'000, i + 10'000})
            of.fronts.enter(of.shapes.id_of({"a", std::to_string(i), "a", ""}), order(job));
    of.fronts.leave(id, order(1));
    EXPECT_TRUE(of.fronts.knows_first_of(id));
    of.fronts.leave(id, order(2));
    EXPECT_FALSE(of.fronts.knows_first_of(id));
    EXPECT_EQ(of.fronts.read_from(id), order(2));
}

}  // namespace
}  // namespace perdure::store
