#include "tests/contract/store_factory.h"

#include "store/memory/memory_store.h"

namespace perdure::contract {
namespace {

std::unique_ptr<Store> make_memory_store(const Timing& timing) {
    return std::make_unique<MemoryStore>(timing);
}

}  // namespace

const std::vector<StoreFactory>& store_factories() {
    static const std::vector<StoreFactory> factories = {
        {"memory", make_memory_store},
    };
    return factories;
}

}  // namespace perdure::contract
