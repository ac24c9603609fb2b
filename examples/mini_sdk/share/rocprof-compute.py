#!/usr/bin/env python3
"""Stands for the profiler."""

print("rocprof-compute")
