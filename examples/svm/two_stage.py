"""Kernels first, then parameters: the two-stage search of Thomas (2017).

O. Thomas, *Learning Using Privileged Information: A Unified Approach* (University of
Sussex, 2017), chapters 6 and 7. Stage one tries every combination of kernels (linear,
quadratic, Gaussian, one per space) on a coarse grid with Δ = 10 and keeps, for each
classifier, the combination that does best on average over the data sets. Stage two
fixes it and searches a wide grid with Δ = 1000. "Best on average" is taken on inner
folds: for every combination the best inner score over its other parameters, averaged
over outer folds and data sets. No test fold is looked at.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import lupi
from lupi.compose import TransformedPrivileged
from lupi.evaluation import nested_cross_validate

KERNELS = {
    "linear": {"kernel": "linear"},
    "quadratic": {"kernel": "poly", "degree": 2, "coef0": 1.0},
    "gaussian": {"kernel": "rbf"},
}
SPACES = ("X", "X*", "X**")
COARSE = (0.1, 1.0, 10.0)
WIDE = (0.001, 0.1, 10.0, 1000.0)


@dataclass(frozen=True)
class Classifier:
    """One classifier of the study.

    ``prefixes`` are those of the kernel parameters of each space it has a kernel in;
    ``searched`` take every value of a grid, ``delta`` is fixed unless it is searched.
    """

    estimator: object
    prefixes: tuple[str, ...]
    searched: tuple[str, ...]
    delta: str | None = None

    @property
    def kernel_choices(self):
        """Every combination of kernel names, one per space."""
        return list(product(KERNELS, repeat=len(self.prefixes)))

    def grid(self, values, delta=None, kernels=None):
        """One grid per combination of kernels; Δ is searched where it is None."""
        grids = []
        for choice in kernels or self.kernel_choices:
            grid = {name: list(values) for name in self.searched}
            if self.delta is not None:
                grid[self.delta] = list(values) if delta is None else [delta]
            for prefix, kernel in zip(self.prefixes, choice, strict=True):
                grid |= {prefix + name: [v] for name, v in KERNELS[kernel].items()}
            grids.append(grid)
        return grids


CLASSIFIERS = {
    "SVM": Classifier(SVC(), ("",), ("C",)),
    "SVM+": Classifier(lupi.SVCPlus(), ("", "privileged_"), ("C", "privileged_reg")),
    "MT": Classifier(lupi.MarginTransferSVC(), ("", "privileged_"), ("C",), "delta"),
    "SVMd+": Classifier(
        lupi.SVCDeltaPlus(), ("", "privileged_"), ("C", "privileged_reg"), "delta"
    ),
    "SVMu": Classifier(
        lupi.UnifiedSVC(),
        ("", "privileged_", "similarity_"),
        ("C", "privileged_reg", "similarity_reg"),
        "delta",
    ),
    "KT": Classifier(
        lupi.KnowledgeTransferClassifier(final_estimator=lupi.SVCDeltaPlus()),
        ("final_estimator__", "privileged_"),
        ("final_estimator__C",),
        "final_estimator__delta",
    ),
}


def count_candidates(values, classifiers=CLASSIFIERS):
    """Count the candidates of a full grid over all kernels, Δ searched too."""
    return {
        name: len(ParameterGrid(CLASSIFIERS[name].grid(values))) for name in classifiers
    }


@dataclass
class TwoStageResult:
    """Kernels kept (table 7.1), outer scores in long form, and what is behind them.

    ``coarse`` and ``wide`` map (data set, classifier) to the `NestedResult` of a stage.
    """

    kernels: pd.DataFrame
    table: pd.DataFrame
    counts: pd.DataFrame
    coarse: dict
    wide: dict

    def scores(self, select_by="accuracy"):
        """Give the scores the form of table 7.2: accuracy in percent, and F-score."""
        chosen = self.table[self.table["select_by"] == select_by]
        wide = chosen.pivot(
            index="classifier", columns="dataset", values=["accuracy", "f1"]
        )
        wide["accuracy"] *= 100
        wide = wide.rename(columns={"accuracy": "Accuracy (%)", "f1": "F-Score"})
        order = product(chosen["dataset"].unique(), ("Accuracy (%)", "F-Score"))
        return wide.swaplevel(axis=1).loc[chosen["classifier"].unique(), list(order)]


def two_stage_search(
    datasets,
    *,
    classifiers=tuple(CLASSIFIERS),
    coarse=COARSE,
    wide=WIDE,
    cv=10,
    inner_cv=5,
    max_fits=None,
    checkpoints=None,
    **options,
):
    """Pick kernels on a coarse grid over all data sets, then search a wide grid.

    ``datasets`` maps names to (X, y, X*) or to bunches; X and X* are standardized
    inside the folds. ``max_fits`` refuses to start a search that needs more fits;
    ``checkpoints`` is a folder that keeps finished outer folds; ``options`` go to
    `nested_cross_validate`.
    """
    sets = {
        name: data
        if isinstance(data, tuple)
        else (data.data, data.target, data.privileged)
        for name, data in datasets.items()
    }
    chosen = {name: CLASSIFIERS[name] for name in classifiers}
    counts = _count_stages(chosen, coarse, wide)
    fits = int(counts["fits"].sum()) * len(sets) * cv * inner_cv
    if max_fits is not None and fits > max_fits:
        raise ValueError(
            f"This search needs {fits:,} fits, more than max_fits={max_fits:,}. Use "
            "fewer values or classifiers."
        )

    def run(stage: str, grids: Mapping):
        results = {}
        for (label, (X, y, privileged)), name in product(sets.items(), chosen):
            model, prefix = _with_scaling(chosen[name].estimator)
            file = checkpoints and Path(checkpoints) / f"{stage} {label} {name}.jsonl"
            results[label, name] = nested_cross_validate(
                model,
                X,
                y,
                None if name == "SVM" else privileged,
                param_grid=[
                    {prefix + key: values for key, values in grid.items()}
                    for grid in grids[name]
                ],
                cv=cv,
                inner_cv=inner_cv,
                checkpoint=file,
                **options,
            )
        return results

    first = run(
        "coarse",
        {name: each.grid(coarse, max(coarse)) for name, each in chosen.items()},
    )
    kept = {name: _best_kernels(name, sets, first) for name in chosen}
    second = run(
        "wide",
        {
            name: each.grid(wide, max(wide), [kept[name]])
            for name, each in chosen.items()
        },
    )
    tables = [
        result.table.assign(dataset=label, classifier=name)
        for (label, name), result in second.items()
    ]
    kernels = [
        {"classifier": name} | dict(zip(SPACES, [*names, "n/a", "n/a"], strict=False))
        for name, names in kept.items()
    ]
    table = pd.concat(tables, ignore_index=True)
    return TwoStageResult(pd.DataFrame(kernels), table, counts, first, second)


def _with_scaling(estimator):
    """Return the estimator behind scalers of X and X*, and where its parameters are."""
    if isinstance(estimator, SVC):
        return Pipeline([("scale", StandardScaler()), ("model", estimator)]), "model__"
    inside = TransformedPrivileged(estimator, StandardScaler())
    pipeline = Pipeline([("scale", StandardScaler()), ("model", inside)])
    return pipeline, "model__estimator__"


def _count_stages(chosen, coarse, wide):
    lines = []
    for name, each in chosen.items():
        kernels = each.kernel_choices
        first = len(ParameterGrid(each.grid(coarse, max(coarse))))
        second = len(ParameterGrid(each.grid(wide, max(wide), kernels[:1])))
        line = {"classifier": name, "kernel_combinations": len(kernels)}
        line |= {"stage_1": first, "stage_2": second, "fits": first + second}
        lines.append(line)
    return pd.DataFrame(lines)


def _best_kernels(name, sets, results):
    """Return the combination of kernels with the best inner score on average."""
    classifier = CLASSIFIERS[name]
    names = {kernel["kernel"]: key for key, kernel in KERNELS.items()}
    prefix = _with_scaling(classifier.estimator)[1]
    means = {}
    for choice in classifier.kernel_choices:
        best = []
        for label in sets:
            result = results[label, name]
            mine = [
                choice
                == tuple(
                    names[candidate[f"{prefix}{space}kernel"]]
                    for space in classifier.prefixes
                )
                for candidate in result.candidates
            ]
            best.append(result.inner_scores[:, mine, 0].max(axis=1).mean())
        means[choice] = np.mean(best)
    return max(means, key=means.get)
