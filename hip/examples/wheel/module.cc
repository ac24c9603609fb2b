// The module acme_saxpy._saxpy. nanobind makes RuntimeError and ValueError of the C++ exceptions.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "saxpy.h"

NB_MODULE(_saxpy, module) {
  module.def("saxpy", &saxpy, nanobind::arg("a"), nanobind::arg("x"), nanobind::arg("y"),
             "Return a * x + y, computed on a GPU. Raises RuntimeError with the HIP runtime's words if it fails.");
}
