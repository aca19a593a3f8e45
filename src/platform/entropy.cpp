#include "platform/entropy.h"

#include <sys/random.h>

#include <cerrno>

#include "base/assert.h"

namespace perdure {

std::uint64_t Entropy::next() {
    std::uint64_t drawn = 0;
    // So few bytes come all at once; only before the kernel's pool is ready can it be interrupted.
    for (;;) {
        const auto got = ::getrandom(&drawn, sizeof(drawn), 0);
        if (got == static_cast<ssize_t>(sizeof(drawn))) return drawn;
        PERDURE_ASSERT(got < 0 && errno == EINTR);
    }
}

}  // namespace perdure
