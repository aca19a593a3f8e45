#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace perdure {

void assertion_failed(const char* condition, const char* file, int line) {
    std::fprintf(stderr, "perdure: broken invariant: %s (%s:%d)\n", condition, file, line);
    std::abort();
}

}  // namespace perdure
