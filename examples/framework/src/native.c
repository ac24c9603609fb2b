/* An extension module of the framework, for the limited API: depth() says how many libraries a call to HIP goes through. */
#define Py_LIMITED_API 0x03090000
#include <Python.h>
#include <hip/hip_runtime.h>

static PyObject *depth(PyObject *self, PyObject *unused) {
  (void)self;
  (void)unused;
  return PyLong_FromLong(1 + amdhip64_chain());
}

static PyMethodDef methods[] = {
    {"depth", depth, METH_NOARGS, "Return how many libraries a call to HIP goes through."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native", "Calls HIP.", 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModule_Create(&definition); }
