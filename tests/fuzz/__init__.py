"""A fuzzer of model files; `make fuzz` runs it."""
