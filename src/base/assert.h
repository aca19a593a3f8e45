// Assertions for our own bugs. They stay on in release builds: a broken invariant aborts, and the
// path after a crash is the path that is tested most. Never assert what was read from disk or
// wire; check it and answer `corrupt`.
#pragma once

namespace perdure {

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace perdure

#define PERDURE_ASSERT(condition)                                                      \
    do {                                                                               \
        if (!(condition)) ::perdure::assertion_failed(#condition, __FILE__, __LINE__); \
    } while (false)
