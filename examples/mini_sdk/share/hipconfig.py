#!/usr/bin/env python3
"""Says what hipconfig says first."""

print("7.1.0-mini")
