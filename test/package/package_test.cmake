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
  set(programs consumer readme_program c_consumer)
else()
  list(APPEND options -D "drawloom_source=${source}")
  # The compiler's objects would be those of this build once more, minutes of it: what can differ in a
  # guest is the configuration, which is whole here, and the lines of one C and one C++ target.
  set(programs c_consumer)
  set(objects drawloom_support_objects)
endif()

run(${CMAKE_COMMAND} -G Ninja -S "${source}/test/package/consumer" -B "${scratch}/build" ${options})
run(${CMAKE_COMMAND} --build "${scratch}/build" --target ${programs} ${objects})
foreach(program IN LISTS programs)
  run("${scratch}/build/${program}")
endforeach()
