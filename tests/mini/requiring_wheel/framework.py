"""A package whose library needs the mini SDK."""
