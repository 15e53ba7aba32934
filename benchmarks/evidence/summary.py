"""From finished units to one line per table, method, number of labels and regime.

Tests are those of `lupi.evaluation.compare`, one method at a time: it *helps* where it
is better than *without*, *shuffled* and *self*, each at 5 % one-sided, and *hurts*
where it is worse than *without*. Nothing is corrected for the number of tables or
methods.
"""

import json
import math

import numpy as np
from scipy import stats

from evidence import work
from lupi.evaluation._statistics import Design, corrected_contrast

LEVEL = 0.05
FEWEST_SPLITS = 3
METHOD_ARMS = ("with", "shuffled", "self")
CONTROLS = ("without", "shuffled", "self")
FALSE_CONTROLS = ("without", "reshuffled", "self")


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
            "task": known[table].task,
            "method": method,
            "n_labels": n_labels,
            "n_unlabelled": round(float(hidden)),
            "n_test": round(float(n_test)),
        }
        if regime == "family":
            lines.append(line | _levels(shared, sorted(shared["without"]), n_test))
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
    wanted = [arms.get(arm, {}) for arm in METHOD_ARMS]
    wanted += [arms[arm] for arm in ("reshuffled",) if arm in arms]
    wanted += [shared.get(arm, {}) for arm in ("without", "oracle")]
    return sorted(set.intersection(*(set(each) for each in wanted)))


def _levels(arms, rows, n_test):
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

    gain, gap = contrast("with", "without"), contrast("oracle", "without")
    p_helps = helps("with", CONTROLS)
    if np.array_equal(scores["with"], scores["self"]):  # LUFe, whose X* is X
        p_helps = helps("with", ("without", "shuffled"))
    verdict = "no evidence"
    if p_helps <= LEVEL:
        verdict = "helps"
    elif gain.p_less <= LEVEL:
        verdict = "hurts"
    return {
        "n_splits": len(rows),
        "arms": {arm: float(values.mean()) for arm, values in scores.items()},
        "seconds": float(seconds["with"]),
        "gain": gain.mean,
        "gain_se": gain.std_error,
        "gain_reach": gain.interval()[1] - gain.mean,
        "p_helps": p_helps,
        "p_hurts": gain.p_less,
        "gap": gap.mean,
        "gap_se": gap.std_error,
        "p_gap": gap.p_greater,
        "closed": gain.mean / gap.mean if gap.p_greater <= LEVEL else None,
        "verdict": verdict,
        # The same question asked of the shuffled X*, which is beside another shuffle
        # where there is one, and of X without its own control.
        "p_shuffled_helps": helps(
            "shuffled", [each for each in FALSE_CONTROLS if each in scores]
        ),
        "p_self_helps": helps("self", ("without", "shuffled")),
    }


# -- over the tables ---------------------------------------------------------------


def base(method):
    """Return the name of a method for both tasks."""
    for ending in ("Classifier", "Regressor"):
        method = method.removesuffix(ending)
    return method


def tested(lines):
    """Return the lines with a verdict."""
    return [line for line in lines if "verdict" in line]


def by_method(lines):
    """Return one entry per method, task, number of labels and regime."""
    found = {}
    for line in tested(lines):
        regime = "unlabelled" if line["n_unlabelled"] else "labelled"
        place = (line["n_labels"], regime, line["task"], base(line["method"]))
        found.setdefault(place, []).append(line)
    entries = []
    for (n_labels, regime, task, method), part in sorted(found.items()):
        gains = [line["gain"] for line in part]
        worst = part[int(np.argmin(gains))]
        closed = [line["closed"] for line in part if line["closed"] is not None]
        entries.append(
            {
                "method": method,
                "n_labels": n_labels,
                "regime": regime,
                "task": task,
                "n_tables": len(part),
                "n_splits": min(line["n_splits"] for line in part),
                "gain": float(np.mean(gains)),
                "n_gap": len(closed),
                "closed": float(np.median(closed)) if closed else None,
                "helps": [x["table"] for x in part if x["verdict"] == "helps"],
                "hurts": [x["table"] for x in part if x["verdict"] == "hurts"],
                "worst": worst["gain"],
                "worst_table": worst["table"],
                "seconds": float(np.mean([line["seconds"] for line in part])),
            }
        )
    return entries


def share(hits, count):
    """Return a share and its exact 95 % interval (Clopper and Pearson)."""
    if not count:
        return {"hits": 0, "count": 0, "share": None, "low": None, "high": None}
    low = stats.beta.ppf(0.025, hits, count - hits + 1) if hits else 0.0
    high = stats.beta.ppf(0.975, hits + 1, count - hits) if hits < count else 1.0
    return {
        "hits": int(hits),
        "count": int(count),
        "share": hits / count,
        "low": float(low),
        "high": float(high),
    }


def truth(lines):
    """Return how often "helps" is said of an X* that cannot help."""
    told = [line for line in tested(lines) if base(line["method"]) != "LUFe"]
    full = [line for line in told if "reshuffled" in line["arms"]]

    def over(part, key):
        return share(sum(line[key] <= LEVEL for line in part), len(part))

    return {
        "shuffled": over(full, "p_shuffled_helps"),
        "shuffled_all": over(told, "p_shuffled_helps"),
        "self": share(0, len(told)),
        "self_uncontrolled": over(told, "p_self_helps"),
    }


def wanted(lines):
    """Return the targets of hedged distillation, 60 labels with unlabelled rows."""
    chosen = [
        line
        for line in tested(lines)
        if base(line["method"]) == "HedgedDistillation"
        and line["n_labels"] == 60
        and line["n_unlabelled"]
    ]
    found = {}
    for name in ("all", "classification", "regression"):
        part = [line for line in chosen if name in ("all", line["task"])]
        rich = [line for line in part if line["closed"] is not None]
        found[name] = {
            "n_tables": len(part),
            "n_gap": len(rich),
            "helps": sum(line["verdict"] == "helps" for line in rich),
            "hurts": _hurt(rich),
            "hurts_others": _hurt([line for line in part if line not in rich]),
            "closed": float(np.median([x["closed"] for x in rich])) if rich else None,
        }
    return found


def _hurt(part):
    return {line["table"]: line["gain"] for line in part if line["verdict"] == "hurts"}


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
    """Return the lines of the methods for a terminal."""
    lines = [
        f"{'method':24} {'task':15} {'labels':>6} {'regime':>10} {'tables':>6} "
        f"{'gain':>7} {'closed':>7} {'helps':>5} {'hurts':>5} {'worst':>7} {'s':>7}"
    ]
    for each in by_method(content["lines"]):
        closed = "" if each["closed"] is None else f"{each['closed']:+.0%}"
        lines.append(
            f"{each['method']:24} {each['task']:15} {each['n_labels']:6} "
            f"{each['regime']:>10} {each['n_tables']:6} {each['gain']:+7.3f} "
            f"{closed:>7} {len(each['helps']):5} {len(each['hurts']):5} "
            f"{each['worst']:+7.3f} {each['seconds']:7.3f}"
        )
    return "\n".join(lines)
