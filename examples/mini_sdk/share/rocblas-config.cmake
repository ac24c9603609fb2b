include(CMakeFindDependencyMacro)
find_dependency(hip)
get_filename_component(_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET roc::rocblas)
  add_library(roc::rocblas SHARED IMPORTED)
  set_target_properties(roc::rocblas PROPERTIES
    IMPORTED_LOCATION "${_prefix}/lib/librocblas.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_prefix}/include"
    INTERFACE_LINK_LIBRARIES hip::host)
endif()
