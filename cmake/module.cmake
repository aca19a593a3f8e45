# The layer rule as code.
#
#   perdure_module(NAME core DIR src/core DEPENDS base [SUBDIRS ...] [TEST_DEPENDS ...]
#                  [PURE | BOOST | ASIO])
#   perdure_program(NAME perdure-sim SOURCES ... DEPENDS sim [ZOO])
#   perdure_static_program(NAME perdure-shim DIRS ... SOURCES ... MODULES ...)
#   perdure_test(NAME contract_test DIR tests/contract DEPENDS store_memory [ZOO] [UNREGISTERED])
#
# Includes are written from src/ on (`#include "core/job.h"`), but src/ is on nobody's include
# path. Each module exposes its own folder alone, through a link in the build tree:
#   <build>/include/core/core -> src/core
# so a header of a module that is not in DEPENDS, directly or through others, is not found.
#
# Each module is a library perdure_<name>, and a second one perdure_<name>_zoo, compiled with
# PERDURE_ZOO=1: only there do the deliberate bugs exist. A _zoo library links _zoo libraries,
# and it is built only when a program or test marked ZOO needs it.
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
    target_link_libraries(${target} ${scope} Boost::headers fmt::fmt Threads::Threads)
    target_compile_definitions(${target} ${scope} BOOST_ASIO_NO_DEPRECATED)
  endif()
endfunction()

# How the sources of a target that has some are compiled. TEST: they include gtest as well.
function(perdure_compile_as target kind)
  if(kind STREQUAL "PURE")
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

function(perdure_library suffix)
  set(target perdure_${arg_NAME}${suffix})
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    perdure_compile_as(${target} ${kind})
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
    target_compile_definitions(${target} ${scope} PERDURE_ZOO=1)
    # Nobody edits and compiles a variant over and over: few large steps are built faster. The
    # warnings left out are true only of files that are alone.
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON UNITY_BUILD ON
                                               UNITY_BUILD_BATCH_SIZE 12)
    if(sources)
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage -Wno-shadow)
    endif()
  endif()
endfunction()

# Every test is listed by name, as <executable>.<Suite>.<test>.
function(perdure_register_tests target)
  target_link_libraries(${target} PRIVATE GTest::gtest GTest::gtest_main rapidcheck
                                          rapidcheck_gtest)
  if(NOT arg_UNREGISTERED)
    gtest_discover_tests(${target} TEST_PREFIX ${target}. DISCOVERY_TIMEOUT 60
                         PROPERTIES TIMEOUT 300)
  endif()
endfunction()

function(perdure_module)
  cmake_parse_arguments(PARSE_ARGV 0 arg "PURE;BOOST;ASIO" "NAME;DIR"
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
  if(arg_ZOO)
    set(suffix "_zoo")
  endif()
  add_executable(${arg_NAME} ${sources})
  perdure_compile_as(${arg_NAME} ASIO)
  perdure_use_libraries(${arg_NAME} PRIVATE ASIO)
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
  target_compile_options(${arg_NAME} PRIVATE -ffunction-sections -fdata-sections)
  if(NOT SANITIZED)
    target_compile_options(${arg_NAME} PRIVATE -fno-pie)
    target_link_options(${arg_NAME} PRIVATE -static -no-pie -Wl,--gc-sections)
  endif()
endfunction()

function(perdure_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "ZOO;UNREGISTERED" "NAME;DIR" "DEPENDS")
  if(arg_ZOO AND SANITIZED)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${arg_DIR}/*.cpp)
  if(NOT sources)
    message(STATUS "test ${arg_NAME}: ${arg_DIR} has no sources yet")
    return()
  endif()
  perdure_expose(${arg_DIR} ${arg_DIR} ${arg_DIR})
  set(suffix "")
  if(arg_ZOO)
    set(suffix "_zoo")
  endif()
  add_executable(${arg_NAME} ${sources})
  if(arg_ZOO)
    set_target_properties(${arg_NAME} PROPERTIES UNITY_BUILD ON)
    target_compile_options(${arg_NAME} PRIVATE -Wno-subobject-linkage -Wno-shadow)
  endif()
  target_include_directories(${arg_NAME} PRIVATE ${PROJECT_BINARY_DIR}/include/${arg_DIR})
  perdure_compile_as(${arg_NAME} ASIO TEST)
  perdure_use_libraries(${arg_NAME} PRIVATE ASIO)
  perdure_link(${arg_NAME} PRIVATE "${suffix}" ${arg_DEPENDS})
  perdure_register_tests(${arg_NAME})
endfunction()
