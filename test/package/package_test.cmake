# cmake -D way=find_package|add_subdirectory -D source=.. -D build=.. -D scratch=.. -P package_test.cmake
#
# A stranger's project against an installation, and against the checkout: same target names, same program.

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nfailed with ${status}:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE "${scratch}")
set(options -D way=${way})
if(way STREQUAL find_package)
  set(prefix "${scratch}/prefix")
  run(${CMAKE_COMMAND} --install "${build}" --prefix "${prefix}")
  list(APPEND options -D "CMAKE_PREFIX_PATH=${prefix}")
else()
  list(APPEND options -D "drawloom_source=${source}" -D "CMAKE_CXX_COMPILER_LAUNCHER=${launcher}"
    -D "CMAKE_C_COMPILER_LAUNCHER=${launcher}" -D CMAKE_BUILD_TYPE=Debug
    -D "CMAKE_CXX_FLAGS_DEBUG=${flags}" -D "CMAKE_C_FLAGS_DEBUG=${flags}")
endif()

run(${CMAKE_COMMAND} -G Ninja -S "${source}/test/package/consumer" -B "${scratch}/build" ${options})
run(${CMAKE_COMMAND} --build "${scratch}/build")
run("${scratch}/build/consumer")
run("${scratch}/build/c_consumer")
