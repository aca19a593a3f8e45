# Writes OUTPUT, which defines what app/perdure/build.h declares, from the repository at SOURCE.
#   cmake -DSOURCE=... -DOUTPUT=... -P build_facts.cmake
# A release without a repository has no commit, and says none. The file is left alone while nothing
# changes, so that nothing is linked again.
cmake_minimum_required(VERSION 3.25)
set(commit "")
set(date "")
find_program(git git)
if(git AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${git} -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${git} -C ${SOURCE} log -1 --format=%cs
                  OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT
"// Made by cmake/build_facts.cmake.
#include \"app/perdure/build.h\"

namespace perdure {

const char* const build_commit = \"@commit@\";
const char* const build_date = \"@date@\";

}  // namespace perdure
")
