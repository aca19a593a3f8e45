# The layer rule as code.
#
#   perdure_module(NAME core DIR src/core DEPENDS base [SUBDIRS ...] [TEST_DEPENDS ...]
#                  [PURE | BOOST | ASIO] [COLD] [ZOO])
#   perdure_program(NAME perdure-sim SOURCES ... DEPENDS sim [ZOO])
#   perdure_static_program(NAME perdure-shim DIRS ... SOURCES ... MODULES ...)
#   perdure_test(NAME contract DIR tests/contract DEPENDS store_memory [ZOO main.cpp ...]
#                [TOGETHER *postgres*])
#
# Includes are written from src/ on (`#include "core/job.h"`), but src/ is on nobody's include
# path. Each module exposes its own folder alone, through a link in the build tree:
#   <build>/include/core/core -> src/core
# so a header of a module that is not in DEPENDS, directly or through others, is not found.
#
# Each module is a library perdure_<name>, and a second one perdure_<name>_zoo, which links _zoo
# libraries. Those of modules marked ZOO are compiled with PERDURE_ZOO=1: only there do the
# deliberate bugs exist, and only in sources, never in headers. The others are the same objects
# again. They are built only when a program or test marked ZOO needs them.
#
# A folder that is missing or empty gives an empty module, and a program or test without
# sources is left out, both with a message, so that the tree builds while it grows.

# The link farm of one folder: <build>/include/<name>/<path> -> <source>/<dir>.
function(perdure_expose name path dir)
  set(link ${PROJECT_BINARY_DIR}/include/${name}/${path})
  get_filename_component(parent ${link} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${dir} ${link} SYMBOLIC)
endfunction()

function(perdure_link target scope suffix)
  foreach(module IN LISTS ARGN)
    target_link_libraries(${target} ${scope} perdure_${module}${suffix})
  endforeach()
endfunction()

# What the code of a module may use besides other modules.
function(perdure_use_libraries target scope kind)
  if(kind STREQUAL "PURE")
    target_link_libraries(${target} ${scope} fmt::fmt)
  elseif(kind STREQUAL "BOOST")
    target_link_libraries(${target} ${scope} Boost::headers fmt::fmt)
  else()
    target_link_libraries(${target} ${scope} perdure_asio fmt::fmt)
  endif()
endfunction()

# How the sources of a target that has some are compiled. TEST: they include gtest as well.
function(perdure_compile_as target kind)
  if(kind STREQUAL "PURE" AND "TEST" IN_LIST ARGN)
    target_precompile_headers(${target} REUSE_FROM perdure_pch_pure_test)
    target_compile_options(${target} PRIVATE ${PERDURE_TEST_OPTIMIZATION})
  elseif(kind STREQUAL "PURE")
    target_compile_options(${target} PRIVATE -include ${PROJECT_SOURCE_DIR}/cmake/no_boost.h)
  elseif(kind STREQUAL "BOOST")
    target_precompile_headers(${target} REUSE_FROM perdure_pch_json)
  elseif("TEST" IN_LIST ARGN)
    target_precompile_headers(${target} REUSE_FROM perdure_pch_test)
    target_compile_options(${target} PRIVATE ${PERDURE_TEST_OPTIMIZATION})
  else()
    target_precompile_headers(${target} REUSE_FROM perdure_pch)
  endif()
endfunction()

# Few large steps are built in half the time of many small ones: most of a small one is reading the
# same headers again. A debug build compiles each file alone, and so proves that it can be.
# The warnings left out are true only of files that are alone.
function(perdure_in_batches target size)
  if(NOT PERDURE_BATCHES)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
  target_compile_options(${target} PRIVATE -Wno-subobject-linkage -Wno-shadow)
endfunction()

function(perdure_library suffix)
  set(target perdure_${arg_NAME}${suffix})
  set(scope PUBLIC)
  if(sources AND suffix AND NOT arg_ZOO)
    add_library(${target} STATIC $<TARGET_OBJECTS:perdure_${arg_NAME}>)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  elseif(sources)
    add_library(${target} STATIC ${sources})
    perdure_compile_as(${target} ${kind})
    if(arg_COLD OR suffix)
      target_compile_options(${target} PRIVATE ${PERDURE_COLD_OPTIMIZATION})
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  set(farm ${PROJECT_BINARY_DIR}/include/${arg_NAME})
  target_include_directories(${target} ${scope} ${farm})
  target_compile_options(${target} ${scope} -fmacro-prefix-map=${farm}/=src/)
  perdure_use_libraries(${target} ${scope} ${kind})
  perdure_link(${target} ${scope} "${suffix}" ${arg_DEPENDS})
  if(suffix)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
    if(sources AND arg_ZOO)  # nobody edits and compiles a variant over and over
      target_compile_definitions(${target} PRIVATE PERDURE_ZOO=1)
      # A false alarm of g++ 12 at -O1; the module itself is compiled with the warning.
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
      perdure_in_batches(${target} 16)
    endif()
  elseif(sources)
    perdure_in_batches(${target} 16)
  endif()
endfunction()

set(test_libraries GTest::gtest GTest::gtest_main rapidcheck rapidcheck_gtest)

# Every test is listed by name, as <executable>.<Suite>.<test>. Those that match TOGETHER share what
# is costly to start, and are one test.
function(perdure_register_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 register "" "TOGETHER" "")
  target_link_libraries(${target} PRIVATE ${test_libraries})
  set(apart "*")
  if(register_TOGETHER)
    set(apart "-${register_TOGETHER}")
    add_test(NAME ${target}.together
             COMMAND ${target} --gtest_brief=1 --gtest_filter=${register_TOGETHER})
    set_tests_properties(${target}.together PROPERTIES TIMEOUT 300)
  endif()
  gtest_discover_tests(${target} TEST_PREFIX ${target}. TEST_FILTER ${apart} DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT 300)
endfunction()

function(perdure_module)
  cmake_parse_arguments(PARSE_ARGV 0 arg "PURE;BOOST;ASIO;COLD;ZOO" "NAME;DIR"
                        "DEPENDS;SUBDIRS;TEST_DEPENDS")
  set(kind BOOST)
  if(arg_PURE)
    set(kind PURE)
  elseif(arg_ASIO)
    set(kind ASIO)
  endif()

  set(patterns "")
  foreach(dir IN ITEMS "" LISTS arg_SUBDIRS)
    list(APPEND patterns ${PROJECT_SOURCE_DIR}/${arg_DIR}/${dir}/*.cpp
         ${PROJECT_SOURCE_DIR}/${arg_DIR}/${dir}/*.h)
  endforeach()
  file(GLOB files CONFIGURE_DEPENDS ${patterns})
  if(NOT files)
    message(STATUS "module ${arg_NAME}: ${arg_DIR} has no sources yet")
  endif()
  set(sources ${files})
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")

  string(REGEX REPLACE "^src/" "" path ${arg_DIR})
  perdure_expose(${arg_NAME} ${path} ${arg_DIR})
  perdure_library("")
  perdure_library("_zoo")

  if(tests)
    set(target ${arg_NAME}_test)
    add_executable(${target} ${tests})
    perdure_compile_as(${target} ${kind} TEST)
    perdure_link(${target} PRIVATE "" ${arg_NAME} ${arg_TEST_DEPENDS})
    perdure_register_tests(${target})
    perdure_in_batches(${target} 16)
  endif()
endfunction()

function(perdure_program)
  cmake_parse_arguments(PARSE_ARGV 0 arg "ZOO" "NAME" "SOURCES;DEPENDS")
  if(arg_ZOO AND SANITIZED)  # deliberate bugs have nothing to show there
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${arg_SOURCES})
  if(NOT sources)
    message(STATUS "program ${arg_NAME}: ${arg_SOURCES} does not exist yet")
    return()
  endif()
  set(suffix "")
  add_executable(${arg_NAME} ${sources})
  if(arg_ZOO)
    set(suffix "_zoo")
    target_compile_definitions(${arg_NAME} PRIVATE PERDURE_ZOO=1)
  endif()
  perdure_in_batches(${arg_NAME} 4)
  perdure_compile_as(${arg_NAME} ASIO)
  if(NOT SANITIZED)
    target_link_options(${arg_NAME} PRIVATE -pie)
  endif()
  target_compile_options(${arg_NAME} PRIVATE ${PERDURE_COLD_OPTIMIZATION})
  perdure_use_libraries(${arg_NAME} PRIVATE ASIO)
  target_include_directories(${arg_NAME} PRIVATE ${PROJECT_BINARY_DIR}/include/app)
  target_link_libraries(${arg_NAME} PRIVATE CLI11::CLI11)
  perdure_link(${arg_NAME} PRIVATE "${suffix}" ${arg_DEPENDS})
endfunction()

# A static program without libraries: the sources of DIRS and SOURCES are compiled for it alone, and
# MODULES only lend their headers. Sanitizers need their shared libraries: there it is not static.
function(perdure_static_program)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "DIRS;SOURCES;MODULES")
  set(sources ${arg_SOURCES})
  foreach(dir IN LISTS arg_DIRS)
    file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${dir}/*.cpp)
    list(FILTER files EXCLUDE REGEX "_test\\.cpp$")
    list(APPEND sources ${files})
  endforeach()
  add_executable(${arg_NAME} ${sources})
  foreach(module IN LISTS arg_MODULES)
    target_include_directories(${arg_NAME} PRIVATE ${PROJECT_BINARY_DIR}/include/${module})
  endforeach()
  perdure_in_batches(${arg_NAME} 20)
  target_compile_options(${arg_NAME} PRIVATE -ffunction-sections -fdata-sections)
  if(CMAKE_BUILD_TYPE STREQUAL "Tsan")
    # It has one thread, and its child tells by shared memory what became of exec: tsan would not
    # let it.
    target_compile_options(${arg_NAME} PRIVATE -fno-sanitize=all)
    target_link_options(${arg_NAME} PRIVATE -fno-sanitize=all)
  endif()
  if(NOT SANITIZED)
    target_link_options(${arg_NAME} PRIVATE -static-pie -Wl,--gc-sections)
  endif()
endfunction()

# Tests across modules: a program NAME_test. With ZOO there is also NAME_zoo, which is no test by
# itself: the same cases on the variants, and with PERDURE_ZOO=1 the files that are named there.
function(perdure_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;DIR;TOGETHER" "DEPENDS;ZOO")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${arg_DIR}/*.cpp)
  list(TRANSFORM arg_ZOO PREPEND ${PROJECT_SOURCE_DIR}/${arg_DIR}/)
  list(REMOVE_ITEM sources ${arg_ZOO})
  perdure_expose(${arg_DIR} ${arg_DIR} ${arg_DIR})

  set(cases ${arg_NAME}_cases)
  add_library(${cases} OBJECT EXCLUDE_FROM_ALL ${sources})
  perdure_in_batches(${cases} 16)
  perdure_test_target(${cases} "")
  add_executable(${arg_NAME}_test ${arg_ZOO} $<TARGET_OBJECTS:${cases}>)
  perdure_test_target(${arg_NAME}_test "")
  perdure_register_tests(${arg_NAME}_test TOGETHER ${arg_TOGETHER})
  if(arg_ZOO AND NOT SANITIZED)
    add_executable(${arg_NAME}_zoo ${arg_ZOO} $<TARGET_OBJECTS:${cases}>)
    perdure_test_target(${arg_NAME}_zoo "_zoo")
    target_compile_definitions(${arg_NAME}_zoo PRIVATE PERDURE_ZOO=1)
    target_link_libraries(${arg_NAME}_zoo PRIVATE ${test_libraries})
  endif()
endfunction()

function(perdure_test_target target suffix)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/include/${arg_DIR})
  target_link_libraries(${target} PRIVATE ${test_libraries})
  perdure_compile_as(${target} ASIO TEST)
  perdure_use_libraries(${target} PRIVATE ASIO)
  perdure_link(${target} PRIVATE "${suffix}" ${arg_DEPENDS})
endfunction()
