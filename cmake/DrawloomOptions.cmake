# How our own code is compiled. Everything here sits on the target `drawloom_options`, which our
# targets link privately: a project that embeds Drawloom keeps its own flags.

set(DRAWLOOM_SANITIZE "" CACHE STRING "Sanitizers for our own code, as in -fsanitize=")
option(DRAWLOOM_GPU_TESTS "Run the tests that need a CUDA device" OFF)
option(DRAWLOOM_LONG_TESTS "Run the tests that take longer than all others together" OFF)

add_library(drawloom_options INTERFACE)
target_compile_features(drawloom_options INTERFACE c_std_11 cxx_std_20)
target_compile_options(drawloom_options INTERFACE
  # The interpreters promise the same bits as generated code: the host compiler may not form an fma.
  -ffp-contract=off
  -Wall -Wextra -Wno-unused-parameter
  # A switch over node kinds has no default: the compiler lists what a new kind still needs.
  -Werror=switch
  $<$<COMPILE_LANGUAGE:CXX>:-Wno-missing-field-initializers>)
if(DRAWLOOM_SANITIZE)
  target_compile_options(drawloom_options INTERFACE
    -fsanitize=${DRAWLOOM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(drawloom_options INTERFACE -fsanitize=${DRAWLOOM_SANITIZE})
endif()

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
  find_program(DRAWLOOM_CCACHE ccache)
  if(DRAWLOOM_CCACHE)
    set(CMAKE_C_COMPILER_LAUNCHER "${DRAWLOOM_CCACHE}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${DRAWLOOM_CCACHE}")
  endif()
  find_program(DRAWLOOM_MOLD mold)
  if(DRAWLOOM_MOLD)
    add_link_options(-fuse-ld=mold)
  endif()
endif()
