"""Power and false alarms where the truth is known: generated tables."""

import numpy as np
from joblib import Parallel, delayed

from evidence import summary, tables, work
from lupi.datasets import make_mediator, make_useless
from lupi.evaluation._methods import find_method

N_ROWS, N_DRAWS, N_SPLITS, N_LABELS = 1500, 20, 10, 60
CASES = (
    (make_mediator, "HedgedDistillationClassifier"),
    (make_useless, "HedgedDistillationClassifier"),
)


def power(n_jobs, n_draws=N_DRAWS):
    """Return one entry per generator, method and regime: how often it helps."""
    entries = []
    for make, name in CASES:
        drawn = Parallel(n_jobs=n_jobs)(
            delayed(_draw)(make, name, seed) for seed in range(n_draws)
        )
        lines = [line for part in drawn for line in part]
        for hidden in sorted({line["n_unlabelled"] for line in lines}, reverse=True):
            part = [line for line in lines if line["n_unlabelled"] == hidden]
            verdicts = [line["verdict"] for line in part]
            entries.append(
                {
                    "data": f"{make.__name__}, {name}",
                    "n_labels": N_LABELS,
                    "n_unlabelled": hidden,
                    "count": len(part),
                    "helps": verdicts.count("helps"),
                    "hurts": verdicts.count("hurts"),
                    "gain": float(np.mean([line["gain"] for line in part])),
                }
            )
    return entries


def _draw(make, name, seed):
    data = make(N_ROWS, random_state=seed)
    data["task"] = work.CLASSES
    table = tables.from_bunch(data, f"{make.__name__} {seed}")
    done = {}
    for split in range(N_SPLITS):
        unit = work.Unit("yours", table.name, N_LABELS, split)
        method = find_method(name)
        done[unit.key] = work.run(unit, table, work.FULL.n_candidates, (method,))
    return summary.collect({table.name: table}, done, {})["lines"]
