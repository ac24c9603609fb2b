get_filename_component(_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET hip::host)
  add_library(hip::host SHARED IMPORTED)
  set_target_properties(hip::host PROPERTIES
    IMPORTED_LOCATION "${_prefix}/lib/libamdhip64.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_prefix}/include")
endif()
