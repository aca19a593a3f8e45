// Compiled alone, with nothing in sight but what it may share with the engine.
#include "tests/contract/reference/reference.h"
