"""What a fit on a Dask cluster costs: bytes and seconds of a pass over the rows.

Starts local clusters of 1, 2 and 4 worker processes of one thread, makes the rows on
the workers, and fits `LinearSVCPlus`, `LinearSVRPlus` and hedged distillation of
`lupi.dask` to them. Prints, for every number of workers, rows and columns:

- passes over the rows (a round trip each), and steps of the interior point;
- bytes that all processes have sent, per step (per pass for hedged distillation);
- seconds per step on the clock, and seconds of processor time of all workers;
- the largest memory that a worker has taken beyond its imports, in units of the
  partitions it holds;
- seconds of the ordinary estimator on the same rows in this process, as the rival.

    python benchmarks/bench_dask.py
    python benchmarks/bench_dask.py --workers 1 2 --rows 100000 --features 20
"""

import argparse
import time
import warnings
from collections import Counter

import numpy as np
from sklearn.base import is_classifier
from small import needed, parsed

import lupi

dask, da, distributed = map(needed, ("dask", "dask.array", "distributed"))
DaskParts = needed("lupi.dask._cluster").DaskParts

MODELS = {
    "LinearSVCPlus": {},
    "LinearSVRPlus": {},
    "HedgedDistillationClassifier": {},
}


def block(n_rows, n_features, classes, seed):
    """Rows of X, y and X*, which has the slack of an ideal teacher."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    margin = X @ np.full(n_features, 2.0 / np.sqrt(n_features))
    y = margin + rng.logistic(size=n_rows)
    slack = np.abs(y - margin)
    if classes:
        y = np.where(y > 0, 1.0, -1.0)
        slack = np.maximum(1.0 - y * margin, 0.0)
    P = rng.normal(size=(n_rows, n_features))
    P[:, 0] = slack
    return X, y, P


def rows_on_workers(n_rows, n_features, n_partitions, classes):
    size = n_rows // n_partitions
    make = dask.delayed(block, nout=3)
    parts = [make(size, n_features, classes, seed) for seed in range(n_partitions)]
    shapes = (size, n_features), (size,), (size, n_features)
    return [
        da.concatenate([da.from_delayed(part[k], shape, float) for part in parts])
        for k, shape in enumerate(shapes)
    ]


# ------------------------------------------------------- what the processes count


def count_sent():
    """Count the bytes that this process sends from now on."""
    from distributed.comm.tcp import TCP

    if hasattr(TCP, "sent"):
        return
    real = TCP.write

    async def write(self, *arguments, **how):
        n_bytes = await real(self, *arguments, **how)
        TCP.sent += n_bytes
        return n_bytes

    TCP.sent, TCP.write = 0, write


def sent():
    from distributed.comm.tcp import TCP

    return TCP.sent


def processor_time():
    return time.process_time()


def peak_memory():
    # Not getrusage, whose peak is inherited from the process that started this one.
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def imported():
    """Import what a task will need, so that it is not counted."""
    import lupi.dask

    return lupi.dask.__name__


def counted_passes(kind):
    """Count the round trips of every fit from now on."""
    calls = []
    for name in ("sum", "gather"):
        real = getattr(kind, name)

        def counting(self, *arguments, name=name, real=real):
            calls.append(name)
            return real(self, *arguments)

        setattr(kind, name, counting)
    return calls


def measure(client, name, n_rows, n_features, n_partitions, calls):
    X, y, P = client.persist(
        rows_on_workers(
            n_rows, n_features, n_partitions, is_classifier(getattr(lupi, name)())
        )
    )
    distributed.wait([X, y, P])
    # Not the sizes of all keys: some of them are names of the same memory.
    n_bytes = sum(table.nbytes for table in (X, y, P)) / n_partitions
    holders = Counter(min(workers) for workers in client.who_has(X).values())
    held = {worker: n_bytes * n for worker, n in holders.items()}
    calls.clear()
    before = sent() + sum(client.run(sent).values())
    busy = sum(client.run(processor_time).values())
    start = time.perf_counter()
    model = getattr(lupi.dask, name)(**MODELS[name]).fit(X, y, privileged=P)
    seconds = time.perf_counter() - start
    busy = sum(client.run(processor_time).values()) - busy
    bytes_sent = sent() + sum(client.run(sent).values()) - before
    peaks = client.run(peak_memory)
    table = dask.compute(X, y, P)
    start = time.process_time()
    local = getattr(lupi, name)(**MODELS[name])
    local.fit(table[0], table[1], privileged=table[2])
    rival = time.process_time() - start
    off = np.abs(model.coef_ - local.coef_).max() / np.abs(local.coef_).max()
    n_steps = int(model.n_iter_.sum()) if hasattr(model, "n_iter_") else len(calls)
    return n_steps, len(calls), bytes_sent, seconds, busy, rival, off, peaks, held


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--rows", type=int, nargs="+", default=[40_000, 160_000])
    parser.add_argument("--features", type=int, nargs="+", default=[20, 60])
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    arguments = parsed(parser, workers=[2], rows=[2_000], features=[5])
    warnings.simplefilter("ignore")
    count_sent()
    calls = counted_passes(DaskParts)
    print(
        f"{'model':30} {'workers':>7} {'rows':>8} {'columns':>8} {'steps':>6} "
        f"{'passes':>7} {'kB/step':>8} {'s/step':>7} {'cpu/step':>9} {'memory':>7} "
        f"{'local cpu':>9} {'coef off':>9}"
    )
    for name in arguments.models:
        for n_workers in arguments.workers:
            for n_features in arguments.features:
                for n_rows in arguments.rows:
                    run_one(
                        name, n_workers, n_rows, n_features, arguments.partitions, calls
                    )


def run_one(name, n_workers, n_rows, n_features, n_partitions, calls):
    # One cluster per line: the peak of the memory of a process never falls.
    with (
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(imported)
        client.run(count_sent)
        before = client.run(peak_memory)
        n_steps, passes, n_bytes, seconds, busy, rival, off, after, held = measure(
            client, name, n_rows, n_features, n_partitions, calls
        )
    memory = max((after[worker] - before[worker]) / held[worker] for worker in held)
    print(
        f"{name:30} {n_workers:7} {n_rows:8} {n_features:3} + {n_features:2} "
        f"{n_steps:6} {passes:7} {n_bytes / n_steps / 1e3:8.0f} "
        f"{seconds / n_steps:7.3f} {busy / n_steps:9.4f} {memory:7.2f} "
        f"{rival:9.2f} {off:9.0e}",
        flush=True,
    )


if __name__ == "__main__":
    main()
