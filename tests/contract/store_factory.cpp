#include "tests/contract/store_factory.h"

#include "store/memory/memory_store.h"

#ifndef PERDURE_ZOO
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <utility>

#include "base/assert.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/testing/cluster.h"
#include "store/sqlite/sqlite_store.h"
#endif

namespace perdure::contract {
namespace {

std::unique_ptr<Store> make_memory_store(const Timing& timing) {
    return std::make_unique<MemoryStore>(timing, queue_weights());
}

// The deliberate bugs are in the engine, which is the same on all tables: one kind is enough then.
#ifndef PERDURE_ZOO

// Whatever the engine knows must be in the rows: here it knows nothing else at any group.
class RestartedStore final : public MemoryStore {
public:
    using MemoryStore::MemoryStore;
    Task<Result<GroupReply>> commit(Group group) override {
        restart();
        return MemoryStore::commit(std::move(group));
    }
};

// No job is in memory at the beginning of any group: all of them are loaded between its steps.
std::unique_ptr<Store> make_far_store(const Timing& timing) {
    auto store = std::make_unique<MemoryStore>(timing, queue_weights());
    store->be_far_away(UINT32_MAX);
    return store;
}

std::unique_ptr<Store> make_restarted_store(const Timing& timing) {
    return std::make_unique<RestartedStore>(timing, queue_weights());
}

// Directories that live as long as this program.
class Scratch {
public:
    ~Scratch() {
        for (const auto& path : paths_) std::filesystem::remove_all(path);
    }
    std::string make() {
        auto path = (std::filesystem::temp_directory_path() / "perdure-contract-XXXXXX").string();
        PERDURE_ASSERT(mkdtemp(path.data()) != nullptr);
        paths_.push_back(path);
        return path;
    }

private:
    std::vector<std::string> paths_;
};

std::unique_ptr<Store> make(SqliteOptions options, const Timing& timing) {
    options.weights = queue_weights();
    auto store = SqliteStore::open(std::move(options), timing);
    PERDURE_ASSERT(store.has_value());
    return std::move(*store);
}

// As in production: a file, synced, and threads of its own.
std::unique_ptr<Store> make_sqlite_store(const Timing& timing) {
    static Scratch scratch;
    return make({.path = scratch.make() + "/perdure.db"}, timing);
}

// As in the simulator.
std::unique_ptr<Store> make_inline_sqlite_store(const Timing& timing) {
    return make({.path = ":memory:", .threads = false, .durable = false}, timing);
}

// Making a schema takes longer than most tests: it is emptied for the next one, and now and then
// there is another, without what was deleted.
std::string empty_schema(store::postgres::Cluster& cluster) {
    constexpr int tests_max = 50;
    static std::string schema;
    static int tests = 0;
    if (tests++ % tests_max == 0) return schema = cluster.new_schema();
    cluster.run(
        "DO $$ DECLARE t text; BEGIN FOR t IN SELECT tablename FROM pg_tables WHERE"
        " schemaname = '" +
        schema + "' AND tablename <> 'migration' LOOP EXECUTE 'DELETE FROM " + schema +
        ".' || t; END LOOP; END $$");
    cluster.run("INSERT INTO " + schema + ".cell VALUES (1, 0, '', 0, '', '', 0)");
    cluster.run("INSERT INTO " + schema +
                ".grp VALUES (0, 0, true, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '{}', '{}', '{}',"
                " '{}', '{}', '{}')");
    return schema;
}

// Inline: one connection for each test, where threads would have three.
std::unique_ptr<Store> make_postgres_store(const Timing& timing) {
    auto& cluster = store::postgres::Cluster::shared();
    auto store = PostgresStore::open({.uri = cluster.uri(),
                                      .schema = empty_schema(cluster),
                                      .threads = false,
                                      .durable = false,
                                      .loads_max = UINT32_MAX,
                                      .weights = queue_weights()},
                                     timing);
    PERDURE_ASSERT(store.has_value());
    return std::move(*store);
}

#endif

}  // namespace

const QueueWeights& queue_weights() {
    static const QueueWeights weights{{{"heavy", 3}}};
    return weights;
}

const std::vector<StoreFactory>& store_factories() {
    static const std::vector<StoreFactory> factories = {
        {"memory", make_memory_store},
#ifndef PERDURE_ZOO
        {"memory_ahead", make_far_store},
        {.name = "memory_restarted", .make = make_restarted_store, .restarts = true},
        {"sqlite", make_sqlite_store},
        {"sqlite_inline", make_inline_sqlite_store},
        {"postgres", make_postgres_store},
#endif
    };
    return factories;
}

}  // namespace perdure::contract
