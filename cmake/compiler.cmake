# Compiler settings: warnings, build types, ccache. Presets only choose among these.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug, Asan or Tsan" FORCE)
endif()

# No -DNDEBUG anywhere: the checks of the libraries stay on in release, like our own.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g")
# What is compiled more often than it is busy: a quarter less to compile is worth more. Tests that
# fail are looked at in a debug build.
set(PERDURE_COLD_OPTIMIZATION $<$<CONFIG:Release>:-O1>)
set(PERDURE_TEST_OPTIMIZATION $<$<CONFIG:Release>:-O1> $<$<CONFIG:Release>:-g0>)
set(CMAKE_CXX_FLAGS_ASAN
    "-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all")

set(CMAKE_CXX_FLAGS_TSAN
    "-O1 -g -fno-omit-frame-pointer -fsanitize=thread -fno-sanitize-recover=all")

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
# Designated initialisers name what matters; the members left out have their default value.
add_compile_options(-Wno-missing-field-initializers)
# g++ 12 warns about std::string operator+ inside its own header (GCC bug 105651).
add_compile_options(-Wno-restrict -Wno-mismatched-new-delete)
set(PERDURE_BATCHES ON)  # see cmake/module.cmake
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(PERDURE_BATCHES OFF)
endif()
set(SANITIZED OFF)
if(CMAKE_BUILD_TYPE MATCHES "^(Asan|Tsan)$")
  set(SANITIZED ON)
  # False alarms of g++ 12 in instrumented code; the release build keeps the warning.
  add_compile_options(-Wno-maybe-uninitialized)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Tsan")
  # Fences are what Asio's own headers use; the first warning says that tsan does not model them.
  # The others are false alarms of g++ 12 in instrumented code.
  add_compile_options(-Wno-tsan -Wno-array-bounds -Wno-stringop-overread)
endif()
add_compile_definitions(_GLIBCXX_ASSERTIONS)

# Assertions name files as `src/core/job/job.h`, whatever directory the tree lies in.
add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this sloppiness ccache gives up on every file that uses a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${CCACHE_PROGRAM})
  add_compile_options(-fpch-preprocess)
endif()
