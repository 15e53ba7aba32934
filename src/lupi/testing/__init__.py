"""Checks that an estimator keeps the contract of privileged information.

`check_privileged_estimator` does for ``fit(X, y, privileged=...)`` what scikit-learn's
`check_estimator` does for ``fit(X, y)``. It applies to the estimators of any library;
run both.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal

from sklearn.base import is_classifier

from lupi.testing import _checks
from lupi.testing._checks import CLASSIFIER_CHECKS, Task, lupi_tags, make_task

__all__ = ["CheckResult", "check_privileged_estimator", "privileged_estimator_checks"]

Check = Callable[[Any], None]
_CHECKS: dict[str, Callable[[Task], None]] = {
    name: check
    for name, check in vars(_checks).items()
    if name.startswith("check_") and check.__module__ == _checks.__name__
}


@dataclass(frozen=True)
class CheckResult:
    """The result of one check.

    Attributes
    ----------
    name : str
        Name of the check.
    status : {"passed", "failed", "cannot hold"}
        The outcome.
    reason : str
        Why the check failed, or the reason in the tags why it cannot hold.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from lupi.testing import check_privileged_estimator
    >>> first = check_privileged_estimator(SVC(), on_fail="report")[0]
    >>> first.status
    'failed'
    """

    name: str
    status: Literal["passed", "failed", "cannot hold"]
    reason: str = ""


def privileged_estimator_checks(estimator: Any) -> Iterator[tuple[str, Check]]:
    """Yield name and function of every check that applies to an estimator.

    Checks that cannot hold, according to the tags of the estimator, are left out.

    Parameters
    ----------
    estimator : estimator instance
        Classifier or regressor whose ``fit`` takes ``privileged``.

    Yields
    ------
    name : str
        Name of the check.
    check : callable
        Takes the estimator and raises AssertionError if it does not comply.

    Examples
    --------
    >>> from lupi import SVCPlus
    >>> from lupi.testing import privileged_estimator_checks
    >>> dict(privileged_estimator_checks(SVCPlus()))["check_free_width"](SVCPlus())
    """
    off = _cannot_hold(estimator)
    for name, check in _all_checks(estimator).items():
        if name not in off:
            yield name, check


def check_privileged_estimator(
    estimator: Any, *, on_fail: Literal["raise", "report"] = "raise"
) -> list[CheckResult]:
    """Check that an estimator keeps the contract of privileged information.

    Parameters
    ----------
    estimator : estimator instance
        Classifier or regressor whose ``fit`` takes ``privileged``. It is cloned and not
        fitted itself.
    on_fail : {"raise", "report"}, default="raise"
        Whether failures raise an error, after all checks have run, or are returned.

    Returns
    -------
    list of CheckResult
        One per check, including those that the tags of the estimator exclude.

    Raises
    ------
    AssertionError
        If checks failed; the message has their names and reasons.

    Examples
    --------
    >>> from lupi import SVCPlus
    >>> from lupi.testing import check_privileged_estimator
    >>> len(check_privileged_estimator(SVCPlus(kernel="linear"))) >= 15
    True
    """
    off = _cannot_hold(estimator)
    results, errors = [], []
    for name, check in _all_checks(estimator).items():
        if name in off:
            results.append(CheckResult(name, "cannot hold", off[name]))
            continue
        try:
            check(estimator)
        # A broken estimator may raise any error.
        except Exception as error:
            results.append(
                CheckResult(name, "failed", f"{type(error).__name__}: {error}")
            )
            errors.append(error)
        else:
            results.append(CheckResult(name, "passed"))
    if errors and on_fail == "raise":
        failed = [result for result in results if result.status == "failed"]
        lines = "\n".join(f"- {result.name}: {result.reason}" for result in failed)
        raise AssertionError(
            f"{estimator!r} fails {len(failed)} of {len(results)} checks:\n{lines}"
        ) from errors[0]
    return results


def _all_checks(estimator: Any) -> dict[str, Check]:
    chosen = {
        name: _on_its_task(check)
        for name, check in _CHECKS.items()
        if name not in CLASSIFIER_CHECKS or is_classifier(estimator)
    }
    return dict(sorted(chosen.items(), key=lambda item: item[0] in CLASSIFIER_CHECKS))


def _on_its_task(check: Callable[[Task], None]) -> Check:
    """Ignore warnings about the data, which the contract allows."""

    @wraps(check)
    def quiet(estimator: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            check(make_task(estimator))

    return quiet


def _cannot_hold(estimator: Any) -> dict[str, str]:
    off = dict(lupi_tags(estimator).cannot_hold)
    unknown = sorted(set(off) - set(_CHECKS))
    if unknown:
        raise ValueError(
            f"The tags of {type(estimator).__name__} exclude {unknown}, but the "
            f"checks are {sorted(_CHECKS)}. Correct the keys of cannot_hold."
        )
    return off
