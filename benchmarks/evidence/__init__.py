"""The parts of `benchmarks/leaderboard.py` and `benchmarks/bench_defaults.py`."""
