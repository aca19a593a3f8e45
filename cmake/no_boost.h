// Included before every file of base and core. Boost lies in the compiler's default include
// path, where it cannot be hidden, so its name is made an error instead.
#pragma once
#pragma GCC poison boost
