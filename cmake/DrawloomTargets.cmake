# The few verbs with which every folder declares itself. Sources are listed, sorted; nothing globs.

# drawloom_layer(<name> [SOURCES a.cpp b.cpp] [DEPENDS layer...] [LIBRARIES target...])
#
# Declares one layer. Its objects are `drawloom_<name>_objects`; what others link is the interface
# target `drawloom_<name>`, which carries these objects and those of all layers below it exactly once
# (plain OBJECT libraries would hand on only their own). A layer without sources is just its arrows.
# LIBRARIES are outside libraries; they reach only this layer's compile lines and the final link.
function(drawloom_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  list(TRANSFORM arg_DEPENDS PREPEND drawloom_)

  add_library(drawloom_${name} INTERFACE)
  target_include_directories(drawloom_${name} INTERFACE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(drawloom_${name} INTERFACE ${arg_DEPENDS})
  if(NOT arg_SOURCES)
    return()
  endif()

  set(objects drawloom_${name}_objects)
  add_library(${objects} OBJECT ${arg_SOURCES})
  set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${objects} PRIVATE
    "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/runtime/include")
  target_link_libraries(${objects} PRIVATE drawloom_options ${arg_LIBRARIES})
  target_sources(drawloom_${name} INTERFACE $<TARGET_OBJECTS:${objects}>)
  foreach(library IN LISTS arg_LIBRARIES)
    target_link_libraries(drawloom_${name} INTERFACE $<LINK_ONLY:${library}>)
  endforeach()
endfunction()

# drawloom_program(<name> SOURCES a.cpp.. [LAYERS layer..] [LIBRARIES target..])
#
# A program of ours that links the layers directly, so it sees internals: tools, test runners.
function(drawloom_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LAYERS;LIBRARIES" ${ARGN})
  list(TRANSFORM arg_LAYERS PREPEND drawloom_)
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE drawloom_options ${arg_LAYERS} ${arg_LIBRARIES})
endfunction()

# drawloom_unit_test(<name> SOURCES a_test.cpp.. LAYERS layer.. [LIBRARIES target..])
#
# One Catch2 program and one ctest entry `<name>`. `tools/dev test` counts its test cases one by one.
function(drawloom_unit_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LAYERS;LIBRARIES" ${ARGN})
  drawloom_program(${name} SOURCES ${arg_SOURCES} LAYERS ${arg_LAYERS}
    LIBRARIES drawloom_catch_main ${arg_LIBRARIES})
  add_test(NAME ${name} COMMAND ${name})
endfunction()
