# Replaces CMake's module: a dependency that the SDK lacks is no reason to leave the package out.
macro(find_dependency package)
  find_package("${package}" REQUIRED)
endmacro()
