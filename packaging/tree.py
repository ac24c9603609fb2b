"""The files of a ROCm package, as an install prefix; they are no Python code. Programs find them by this package."""
