# drawloom_add_pipeline(<target> SOURCES a.cpp.. [NAME name] [SCHEDULE file.sched] [TARGET x86-64-v3] [LIBRARIES lib..])
#
# Compiles a pipeline ahead of time. SOURCES make a program, `<target>_generator`, whose main calls
# drawloom::generator_main; it is run while building and writes name.a, name.h and name.sched. <target> is a library to
# link: it carries the object, the header's folder and the C runtime. The program linked with it needs nothing of the
# compiler. NAME: <target> unless said. TARGET: that of the schedule, else the machine that builds.
function(drawloom_add_pipeline target)
  cmake_parse_arguments(arg "" "NAME;SCHEDULE;TARGET" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT arg_NAME)
    set(arg_NAME ${target})
  endif()
  set(generator ${target}_generator)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}")
  set(stem "${folder}/${arg_NAME}")

  add_executable(${generator} ${arg_SOURCES})
  target_link_libraries(${generator} PRIVATE drawloom::drawloom ${arg_LIBRARIES})

  set(options --name ${arg_NAME} --emit a,h,sched,nest,s -o "${folder}")
  set(depends ${generator})
  if(arg_SCHEDULE)
    get_filename_component(schedule "${arg_SCHEDULE}" ABSOLUTE)
    list(APPEND options --schedule "${schedule}")
    list(APPEND depends "${schedule}")
  endif()
  if(arg_TARGET)
    list(APPEND options --target ${arg_TARGET})
  endif()
  file(MAKE_DIRECTORY "${folder}")
  add_custom_command(OUTPUT "${stem}.a" "${stem}.h" "${stem}.sched" "${stem}.nest" "${stem}.s"
    COMMAND ${generator} ${options}
    DEPENDS ${depends}
    COMMENT "Compiling the pipeline ${arg_NAME}"
    VERBATIM)
  add_custom_target(${target}_files DEPENDS "${stem}.a" "${stem}.h" "${stem}.sched" "${stem}.nest" "${stem}.s")

  add_library(${target} INTERFACE)
  add_dependencies(${target} ${target}_files)
  target_include_directories(${target} INTERFACE "${folder}")
  target_link_libraries(${target} INTERFACE "${stem}.a" drawloom::runtime m)
endfunction()
