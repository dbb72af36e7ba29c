# What an installation holds: the shared library, the C runtime for generated programs, the headers a
# program may include, and the package files that make find_package(drawloom) give the same target
# names as add_subdirectory.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/drawloom")

set_target_properties(drawloom_runtime PROPERTIES EXPORT_NAME runtime)
install(TARGETS drawloom drawloom_runtime EXPORT drawloomTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")

# The layers an app may see; those below `driver` that lower, interpret or emit code stay inside.
foreach(layer IN ITEMS analysis driver ir lang layout nest steps support)
  install(DIRECTORY "src/drawloom/${layer}/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/drawloom/${layer}"
    FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "jit*" EXCLUDE PATTERN "case_*" EXCLUDE PATTERN "compile_ir.h" EXCLUDE PATTERN "lowered.h" EXCLUDE
    PATTERN "draft.h" EXCLUDE PATTERN "holdings.h" EXCLUDE PATTERN "judge.h" EXCLUDE)
endforeach()
install(DIRECTORY src/drawloom/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/drawloom"
  FILES_MATCHING REGEX "/src/drawloom/[^/]+\\.h$" REGEX "/src/drawloom/[^/.]+$" EXCLUDE)
install(DIRECTORY runtime/include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h" PATTERN "*.def")

install(EXPORT drawloomTargets NAMESPACE drawloom:: DESTINATION "${package_dir}")
export(EXPORT drawloomTargets NAMESPACE drawloom:: FILE "${PROJECT_BINARY_DIR}/drawloomTargets.cmake")

configure_package_config_file(cmake/drawloom-config.cmake.in "${PROJECT_BINARY_DIR}/drawloom-config.cmake"
  INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/drawloom-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES cmake/DrawloomPipeline.cmake
  "${PROJECT_BINARY_DIR}/drawloom-config.cmake" "${PROJECT_BINARY_DIR}/drawloom-config-version.cmake"
  DESTINATION "${package_dir}")
