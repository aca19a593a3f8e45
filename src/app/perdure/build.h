// What this program was built from. Made by cmake/build_facts.cmake; empty outside of a repository.
#pragma once

namespace perdure {

extern const char* const build_commit;
extern const char* const build_date;  // of that commit

}  // namespace perdure
