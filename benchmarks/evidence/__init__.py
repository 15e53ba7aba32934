"""The parts of `benchmarks/leaderboard.py` and `benchmarks/bench_defaults.py`.

Importing this limits linear algebra to one thread: the workers fill the cores.
"""

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
