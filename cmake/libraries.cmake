# Libraries, all from the distribution's packages. `./dev setup` installs them.

set(THREADS_PREFER_PTHREAD_FLAG OFF)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(PostgreSQL 15 REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_library(XXHASH libxxhash.a REQUIRED)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
include(GoogleTest)

# The default Boost of Debian 12 is 1.74, whose coroutines differ: insist on 1.81, and check
# the header that will really be included, since another version may lie before it.
find_package(Boost 1.81 CONFIG REQUIRED COMPONENTS headers)
get_target_property(boost_include_dir Boost::headers INTERFACE_INCLUDE_DIRECTORIES)
file(STRINGS ${boost_include_dir}/boost/version.hpp boost_version_line
     REGEX "^#define BOOST_VERSION [0-9]+")
string(REGEX MATCH "[0-9]+" boost_version "${boost_version_line}")
if(boost_version LESS 108100)
  message(FATAL_ERROR "Boost 1.81 or newer is needed, ${boost_include_dir}/boost has "
                      "${boost_version}; fix: ./dev setup, and remove older Boost headers")
endif()

# A server frees in one thread what it allocated in another, thousands of times for each batch; the
# C library's allocator spends a seventh of its processor time on that. Sanitizers bring their own.
find_library(TCMALLOC libtcmalloc_minimal.a REQUIRED)
function(perdure_use_fast_allocator name)
  if(TARGET ${name} AND NOT SANITIZED)
    target_link_libraries(${name} PRIVATE ${TCMALLOC})
  endif()
endfunction()

# Precompiled headers, each shared by all that use its libraries, production and zoo alike.
set(common_headers <fmt/format.h> <functional> <map> <optional> <string> <variant> <vector>)
set(asio_headers <boost/asio/awaitable.hpp> <boost/asio/co_spawn.hpp> <boost/asio/detached.hpp>
    <boost/asio/io_context.hpp> <boost/asio/post.hpp> <boost/asio/steady_timer.hpp>
    <boost/asio/use_awaitable.hpp>)

function(perdure_precompile name libraries)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${name}.cpp CONTENT "// Carries a shared header.\n")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE ${libraries})
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()

add_library(perdure_asio INTERFACE)
target_link_libraries(perdure_asio INTERFACE Boost::headers Threads::Threads)
target_compile_definitions(perdure_asio INTERFACE BOOST_ASIO_NO_DEPRECATED)

set(asio_libraries perdure_asio fmt::fmt)
perdure_precompile(perdure_pch "${asio_libraries}" ${asio_headers} ${common_headers})
perdure_precompile(perdure_pch_test "${asio_libraries};GTest::gtest" ${asio_headers}
                   ${common_headers} <gtest/gtest.h>)
target_compile_options(perdure_pch_test PRIVATE ${PERDURE_TEST_OPTIMIZATION})
perdure_precompile(perdure_pch_pure_test "fmt::fmt;GTest::gtest;rapidcheck" ${common_headers}
                   <gtest/gtest.h>)
target_compile_options(perdure_pch_pure_test PRIVATE ${PERDURE_TEST_OPTIMIZATION})
perdure_precompile(perdure_pch_json "Boost::headers;fmt::fmt" <boost/json.hpp> ${common_headers})
