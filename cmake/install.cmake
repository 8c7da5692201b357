# Install rules, the CMake package and the pkg-config files.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/lathe)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/lathe DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS lathe lathe_compiled EXPORT lathe-targets)
install(EXPORT lathe-targets NAMESPACE lathe:: DESTINATION ${package_dir})

configure_package_config_file(cmake/latheConfig.cmake.in ${PROJECT_BINARY_DIR}/latheConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/latheConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/latheConfig.cmake ${PROJECT_BINARY_DIR}/latheConfigVersion.cmake
  DESTINATION ${package_dir})

set(pc_llvm_dlopen "")
set(pc_llvm_link "-DLATHE_LLVM_LINK")
set(pc_llvm_off "-DLATHE_LLVM_OFF")
set(pc_llvm ${pc_llvm_${LATHE_LLVM}})
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(name lathe lathe-compiled)
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
