# Compiler options and the two macros that make a room and its tests.

option(SEMEL_TESTS "Build the tests" ON)
option(SEMEL_BENCH "Build the micro benchmarks" OFF)
set(SEMEL_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize takes them: address,undefined or thread")
option(SEMEL_COVERAGE "Instrument for coverage" OFF)
option(SEMEL_PCH "Precompile the headers that most files include" OFF)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(SEMEL_CCACHE ccache)
if(SEMEL_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SEMEL_CCACHE})
  if(SEMEL_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # ccache's manual, "Precompiled headers": without these, nothing that uses one is found again.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${SEMEL_CCACHE})
    add_compile_options(-Xclang -fno-pch-timestamp)
  endif()
endif()
find_program(SEMEL_LLD NAMES ld.lld-19 ld.lld)
if(SEMEL_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_link_options(-fuse-ld=lld)
endif()

add_library(semel_options INTERFACE)
target_compile_options(semel_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                               -Wno-sign-conversion -Wnon-virtual-dtor -Werror)
target_include_directories(semel_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_definitions(semel_options INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_SEPARATE_COMPILATION
                                                   BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE=16
                                                   SEMEL_VERSION="${PROJECT_VERSION}")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 inlines one half of Asio's pair for coroutine frames and then misses the other.
  target_compile_options(semel_options INTERFACE -Wno-mismatched-new-delete)
endif()
if(SEMEL_SANITIZE)
  target_compile_options(semel_options INTERFACE -fsanitize=${SEMEL_SANITIZE} -fno-omit-frame-pointer
                                                 -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SEMEL_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # False positives inside Asio, and only in these presets.
    if(SEMEL_SANITIZE MATCHES "address")
      target_compile_options(semel_options INTERFACE -Wno-maybe-uninitialized)
    elseif(SEMEL_SANITIZE MATCHES "thread")
      target_compile_options(semel_options INTERFACE -Wno-tsan)
    endif()
  endif()
endif()
if(SEMEL_COVERAGE)
  target_compile_options(semel_options INTERFACE -fprofile-instr-generate -fcoverage-mapping)
  add_link_options(-fprofile-instr-generate -fcoverage-mapping)
endif()

# semel_precompile(TARGET headers...): what most of its files include, and these. With SEMEL_PCH only, which `dev`
# does without, so that a file that does not include what it uses is found.
set(SEMEL_ASIO <boost/asio/co_spawn.hpp> <boost/asio/ip/tcp.hpp> <boost/asio/steady_timer.hpp>)
function(semel_precompile target)
  if(SEMEL_PCH)
    target_precompile_headers(${target} PRIVATE <algorithm> <chrono> <functional> <map> <memory> <optional> <string>
                                                <string_view> <variant> <vector> ${ARGN})
  endif()
endfunction()

# semel_room(NAME USES rooms... PUBLIC libs... PRIVATE libs... PRECOMPILE headers...): every .cc of the folder but
# main.cc.
function(semel_room name)
  cmake_parse_arguments(R "" "" "USES;PUBLIC;PRIVATE;PRECOMPILE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  add_library(semel_${name} STATIC ${sources})
  foreach(room IN LISTS R_USES)
    if(room)
      target_link_libraries(semel_${name} PUBLIC semel_${room})
    endif()
  endforeach()
  target_link_libraries(semel_${name} PUBLIC ${R_PUBLIC} PRIVATE semel_options ${R_PRIVATE})
  semel_precompile(semel_${name} ${R_PRECOMPILE})
endfunction()

# semel_labelled(TARGET LABEL): built by the target tests_LABEL too, which is all that `ctest -L LABEL` runs.
function(semel_labelled target label)
  if(NOT TARGET tests_${label})
    add_custom_target(tests_${label})
  endif()
  add_dependencies(tests_${label} ${target})
endfunction()

# semel_tests(NAME FOLDER USES libs... LABEL label): one GoogleTest program per mirrored room.
function(semel_tests name)
  cmake_parse_arguments(T "" "FOLDER;TIMEOUT;LABEL" "USES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${T_FOLDER}/*_test.cc)
  if(NOT sources)
    return()
  endif()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${T_USES} semel_test_support semel_options GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE SEMEL_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                             SEMEL_BINARY_DIR="${CMAKE_BINARY_DIR}")
  # What is tested is optimised as its preset says. The tests themselves take half as long to compile without.
  target_compile_options(${name} PRIVATE -O0)
  semel_precompile(${name} <filesystem> <fstream> <set> <sstream> <thread> <gmock/gmock.h> <gtest/gtest.h>)
  semel_labelled(${name} ${T_LABEL})
  include(GoogleTest)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS "${T_LABEL}" TIMEOUT ${T_TIMEOUT})
endfunction()
