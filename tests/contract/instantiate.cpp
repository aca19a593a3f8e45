// Every test of the suite, once for each store.
#include "tests/contract/contract.h"

namespace perdure::contract {

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, testing::ValuesIn(store_factories()),
                         [](const auto& test) { return test.param.name; });

}  // namespace perdure::contract
