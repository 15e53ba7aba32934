"""Measure the tables of evidence.md anew: python docs/evidence_run.py FOLDER [JOBS].

Small training sets, the rest as test rows, on the shipped data. Every study is one call
of `lupi.evaluation.compare` with its defaults but for the size and number of training
sets, and the methods where the table says so. Results go to FOLDER, one file per
study, with a checkpoint while it runs: call it again after an interruption and it goes
on. In the end the table is printed.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from lupi.datasets import (
    load_actg175,
    load_breast_cancer_privileged,
    load_digits_lowres,
    load_german_credit,
    load_pima,
)
from lupi.evaluation import Comparison, compare


class Study(NamedTuple):
    """One data set at one size of the training sets."""

    name: str
    load: Callable[..., Any]
    rows: int
    splits: int
    methods: str = "default"

    @property
    def file(self) -> str:
        """The name of its result."""
        words = "".join(c if c.isalnum() else " " for c in self.name).split()
        return "-".join([*words, str(self.rows)]).lower() + ".json"


MONTHS_LATER = partial(load_actg175, target="cd4-week-96")
DIGITS = partial(load_digits_lowres, size=2)
STUDIES = [
    Study("ACTG 175, event", load_actg175, 60, 20),
    Study("ACTG 175, CD4 at week 96", MONTHS_LATER, 60, 12),
    Study("Pima, lab values", load_pima, 60, 12),
    Study("digits 5 and 8, 2 × 2 pixels", DIGITS, 40, 8),
    Study("breast cancer, worst nuclei", load_breast_cancer_privileged, 40, 12),
    Study("German credit, sensitive columns", load_german_credit, 60, 12),
    # How the gain melts as rows grow in number.
    Study("ACTG 175, event", load_actg175, 200, 10, "generalized-distillation"),
    Study("ACTG 175, event", load_actg175, 600, 10, "generalized-distillation"),
]
HEADINGS = ["data", "rows", "splits", "method", "score", "without", "with", "shuffled"]
HEADINGS += ["oracle", "gain", "p", "p (N&B)", "verdict"]


def measure(study: Study, folder: Path, jobs: int) -> Comparison:
    """Return the result of a study, read from its file when there is one."""
    path = folder / study.file
    if not path.exists():
        data = study.load(as_frame=True)
        result = compare(
            data.data,
            data.target,
            data.privileged,
            methods=study.methods,
            train_size=study.rows,
            cv=study.splits,
            checkpoint=path.with_suffix(".checkpoint"),
            n_jobs=jobs,
        )
        result.to_json(path)
        path.with_suffix(".checkpoint").unlink()
    return Comparison.from_json(path)


def lines(study: Study, result: Comparison) -> list[str]:
    """Write one line of the table per method."""
    written = []
    for line in result.summary.to_dict("records"):
        verdict = line["verdict"]
        if line["nothing_to_gain"]:
            verdict += ", nothing to gain"
        cells = [study.name, str(study.rows), str(study.splits), line["method"]]
        cells += [result.settings["scoring"]]
        cells += [
            f"{line[row]:.3f}" for row in ("without", "with", "shuffled", "oracle")
        ]
        cells += [f"{line['gain']:+.3f} ± {line['gain_std_error']:.3f}"]
        cells += [f"{line['p_helps']:.3f}", f"{line['p_helps_nadeau_bengio']:.3f}"]
        written.append("| " + " | ".join([*cells, verdict]) + " |")
    return written


def main(folder: str, jobs: str = "-1") -> None:
    """Measure what is missing, then print the table."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    results = [(study, measure(study, place, int(jobs))) for study in STUDIES]
    print("| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS), sep="\n")
    for study, result in results:
        print(*lines(study, result), sep="\n")
    print(f"\n{sum(result.settings['seconds'] for _, result in results):.0f} s in all")


if __name__ == "__main__":
    main(*sys.argv[1:])
