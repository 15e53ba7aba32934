"""From finished units to one line per table, method, number of labels and regime.

Tests are those of `lupi.evaluation.compare`, one method at a time: it *helps* where it
is better than *without*, *shuffled* and *self* (where that arm was run), each at 5 %
one-sided, and *hurts* where it is worse than *without*. Nothing is corrected for the
number of tables or methods.
"""

import json
import math

import numpy as np
from scipy import stats

from evidence import work
from lupi.evaluation._statistics import Design, corrected_contrast

LEVEL = 0.05
FEWEST_SPLITS = 3
CONTROLS = ("without", "shuffled", "self")
# X* says something about y where a model that has it when predicting gains as much.
INFORMATIVE = 0.02
# Regimes in which all labels are right.
CLEAN = ("family", "labelled", "unlabelled")


# -- lines -------------------------------------------------------------------------


def collect(known, done, facts):
    """Return the result of a run as plain data.

    Parameters
    ----------
    known : dict of Table
        The tables.
    done : dict
        Results of `work.run` by the key of their unit.
    facts : dict
        What is said of the run as a whole.
    """
    cells, sizes, errors = {}, {}, {}
    for key, result in done.items():
        _, table, n_labels, split = key.split(":")
        where = (table, int(n_labels))
        sizes.setdefault(where, []).append((result["n_test"], result["n_unlabelled"]))
        for name, message in result["errors"].items():
            errors.setdefault(f"{table}, {n_labels} labels, {name}", message)
        for line in result["lines"]:
            place = (*where, line["family"], line["method"], line["regime"])
            cells.setdefault(place, {}).setdefault(line["arm"], {})[int(split)] = line
    lines = []
    for place, arms in sorted(cells.items()):
        table, n_labels, family, method, regime = place
        shared = cells.get((table, n_labels, family, family, "family"), {})
        n_test, n_unlabelled = np.mean(sizes[table, n_labels], axis=0)
        if regime == "family" and method != work.OUTSIDE:
            continue
        hidden = n_unlabelled if regime == "unlabelled" else 0
        line = {
            "table": table,
            "task": known[table].task if regime in CLEAN else work.CLASSES,
            "method": method,
            "n_labels": n_labels,
            "regime": "labelled" if regime == "family" else regime,
            "n_unlabelled": round(float(hidden)),
            "n_test": round(float(n_test)),
        }
        if regime == "family":
            lines.append(line | _levels(shared, sorted(shared["without"])))
            continue
        rows = _common(arms, shared)
        if len(rows) >= FEWEST_SPLITS:
            design = Design(n_labels, n_test, "few labels")
            lines.append(line | _tests(arms | shared, rows, design))
    return {
        "run": facts | {"errors": dict(sorted(errors.items()))},
        "tables": [_describe(table) for table in known.values()],
        "lines": lines,
    }


def _describe(table):
    said = ("name", "subject", "task", "null", "n_rows", "source", "license")
    more = {"why_privileged": table.why_privileged, "digest": table.digest}
    width = {"n_features": table.X.shape[1], "n_privileged": table.privileged.shape[1]}
    return {key: getattr(table, key) for key in said} | width | more


def _common(arms, shared):
    """Return the splits that every arm has."""
    if "with" not in arms or "without" not in shared:
        return []
    parts = [*arms.values(), *shared.values()]
    return sorted(set.intersection(*(set(each) for each in parts)))


def _levels(arms, rows):
    seconds = np.mean([arms["without"][row]["seconds"] for row in rows])
    scores = {arm: np.mean([arms[arm][row]["score"] for row in rows]) for arm in arms}
    return {"n_splits": len(rows), "arms": scores, "seconds": seconds}


def _tests(arms, rows, design):
    scores, groups, seconds = {}, {}, {}
    for arm in arms:
        chosen = [arms[arm][row] for row in rows]
        scores[arm] = np.array([each["score"] for each in chosen])
        groups[arm] = np.array([each["groups"] for each in chosen], dtype=float)
        seconds[arm] = np.mean([each["seconds"] for each in chosen])

    def contrast(arm, other):
        return corrected_contrast(
            scores[arm] - scores[other], design, groups[arm] - groups[other]
        )

    def helps(arm, others):
        return max(contrast(arm, other).p_greater for other in others)

    def possible(arm):
        """Return the gain of an arm, and the share of it if it is significant."""
        found = contrast(arm, "without")
        sure = found.p_greater <= LEVEL
        return found.mean, gain.mean / found.mean if sure else None

    gain, controls = contrast("with", "without"), [c for c in CONTROLS if c in scores]
    if np.array_equal(scores["with"], scores.get("self")):  # LUFe, whose X* is X
        controls.remove("self")
    p_helps = helps("with", controls)
    verdict = "no evidence"
    if p_helps <= LEVEL:
        verdict = "helps"
    elif gain.p_less <= LEVEL:
        verdict = "hurts"
    line = {
        "n_splits": len(rows),
        "arms": {arm: float(values.mean()) for arm, values in scores.items()},
        "seconds": float(seconds["with"]),
        "gain": gain.mean,
        "gain_se": gain.std_error,
        "gain_reach": gain.interval()[1] - gain.mean,
        "p_helps": p_helps,
        "p_hurts": gain.p_less,
        "verdict": verdict,
    }
    for arm, name, share in (("oracle", "gap", "closed"), ("ceiling", "room", "share")):
        if arm in scores:
            line[name], line[share] = possible(arm)
    # The same question asked of the shuffled X*, which is beside another shuffle, and
    # of X without its own control.
    if "reshuffled" in scores:
        others = ("without", "reshuffled", "self")
        line["p_shuffled_helps"] = helps("shuffled", others)
    if "self" in controls:
        line["p_self_helps"] = helps("self", ("without", "shuffled"))
    return line


# -- over the tables ---------------------------------------------------------------


def base(method):
    """Return the name of a method for both tasks."""
    for ending in ("Classifier", "Regressor"):
        method = method.removesuffix(ending)
    return method


def tested(lines):
    """Return the lines with a verdict."""
    return [line for line in lines if "verdict" in line]


def pick(lines, names, n_labels=None, regime=None, task=None):
    """Return the tested lines of some methods, of one size, regime and task."""
    return [
        line
        for line in tested(lines)
        if base(line["method"]) in names
        and n_labels in (None, line["n_labels"])
        and regime in (None, line["regime"])
        and task in (None, line["task"])
    ]


def count(part, verdict):
    """Return how many lines have a verdict."""
    return sum(line["verdict"] == verdict for line in part)


def shuffled_gain(part):
    """Return the mean gain of shuffled X*."""
    arms = [line["arms"] for line in part]
    return float(np.mean([each["shuffled"] - each["without"] for each in arms]))


def of_ceiling(part):
    """Return the share of the gap to the ceiling that is closed, or None.

    It is the median over the tables whose gap is significant and whose X* is
    informative (with wrong labels: all of the former), with an interval from resampled
    tables.
    """
    shares = [
        line["share"]
        for line in part
        if line.get("share") is not None and line.get("gap", np.inf) > INFORMATIVE
    ]
    if not shares:
        return None
    rng = np.random.default_rng(0)
    medians = np.median(rng.choice(shares, (2000, len(shares))), axis=1)
    low, high = np.quantile(medians, [0.025, 0.975])
    found = {"median": float(np.median(shares)), "n_tables": len(shares)}
    return found | {"low": float(low), "high": float(high)}


def false_alarms(lines, key):
    """Return how often "helps" is said of an X* that cannot help, with an interval."""
    told = [line[key] for line in tested(lines) if key in line]
    return share(sum(p <= LEVEL for p in told), len(told))


def share(hits, n):
    """Return a share and its exact 95 % interval (Clopper and Pearson)."""
    if not n:
        return {"hits": 0, "count": 0, "share": 0.0, "low": 0.0, "high": 1.0}
    low = stats.beta.ppf(0.025, hits, n - hits + 1) if hits else 0.0
    high = stats.beta.ppf(0.975, hits + 1, n - hits) if hits < n else 1.0
    found = {"hits": int(hits), "count": int(n), "share": hits / n}
    return found | {"low": float(low), "high": float(high)}


# -- as text -----------------------------------------------------------------------


def dumps(content):
    """Return JSON with one line per entry of a list, and numbers of five digits."""
    parts = []
    for key, value in _plain(content).items():
        if isinstance(value, list):
            inner = ",\n".join(json.dumps(each, ensure_ascii=False) for each in value)
            parts.append(f"{json.dumps(key)}: [\n{inner}\n]")
        else:
            parts.append(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float | np.floating):
        return round(float(value), 5) if math.isfinite(value) else None
    return value


def text(content):
    """Return one line per number of labels, regime, method and task."""
    found = {}
    for line in tested(content["lines"]):
        place = (line["n_labels"], line["regime"], base(line["method"]), line["task"])
        found.setdefault(place, []).append(line)
    rows = [
        f"{'method':26} {'task':15} {'labels':>6} {'regime':>10} {'tables':>6} "
        f"{'gain':>7} {'ceiling':>7} {'helps':>5} {'hurts':>5} {'worst':>7} {'s':>7}"
    ]
    for (n_labels, regime, method, task), part in sorted(found.items()):
        gains, closed = [line["gain"] for line in part], of_ceiling(part)
        of_gap = f"{closed['median']:+.0%}" if closed else ""
        seconds = np.mean([line["seconds"] for line in part])
        rows.append(
            f"{method:26} {task:15} {n_labels:6} {regime:>10} {len(part):6} "
            f"{np.mean(gains):+7.3f} {of_gap:>7} {count(part, 'helps'):5} "
            f"{count(part, 'hurts'):5} {min(gains):+7.3f} {seconds:7.3f}"
        )
    return "\n".join(rows)
