"""Settings for all tests: nothing random between runs, nothing drawn on a screen."""

import os

from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")

# Timing on a shared machine says nothing, and a failure must come back on the next run.
settings.register_profile("lupi", derandomize=True, deadline=None, database=None)
settings.load_profile("lupi")
