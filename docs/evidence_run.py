"""Measure the table of evidence.md anew: python docs/evidence_run.py [METHOD [OUT]].

Small training sets, the rest as test rows, on the shipped data. Every line is one call
of `lupi.evaluation.compare` with its defaults but for the size of the training sets.
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from lupi.datasets import (
    load_actg175,
    load_breast_cancer_privileged,
    load_digits_lowres,
    load_german_credit,
    load_pima,
)
from lupi.evaluation import compare

STUDIES: list[tuple[str, Callable[..., Any], tuple[int, ...]]] = [
    ("ACTG 175, event", load_actg175, (60, 200, 600)),
    (
        "ACTG 175, CD4 at week 96",
        partial(load_actg175, target="cd4-week-96"),
        (60, 200),
    ),
    ("Pima, lab values", load_pima, (60, 200)),
    ("digits 5 and 8, 2 x 2 pixels", partial(load_digits_lowres, size=2), (40,)),
    ("breast cancer, worst nuclei", load_breast_cancer_privileged, (40,)),
    ("German credit, sensitive columns", load_german_credit, (100,)),
]
COLUMNS = ["data", "n", "method", "score", "without", "gain", "shuffled", "oracle"]
COLUMNS += ["p (Holm)", "verdict"]


def main(methods: str = "default", out: str | None = None) -> None:
    """Print one line per data set, size and method."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    print(*lines, sep="\n", flush=True)
    for name, load, sizes in STUDIES:
        for size in sizes:
            data = load(as_frame=True)
            result = compare(
                data.data,
                data.target,
                data.privileged,
                methods=methods,
                train_size=size,
                n_jobs=-1,
            )
            for line in result.summary.to_dict("records"):
                gain = f"{line['gain']:+.3f} ± {line['gain_std_error']:.3f}"
                cells = [name, str(size), line["method"], result.settings["scoring"]]
                cells += [f"{line['without']:.3f}", gain]
                cells += [f"{line['shuffled'] - line['without']:+.3f}"]
                cells += [f"{line['gap']:+.3f}", f"{line['p_helps']:.3f}"]
                cells += [line["verdict"]]
                lines.append("| " + " | ".join(cells) + " |")
                print(lines[-1], flush=True)
    if out is not None:
        with open(out, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
