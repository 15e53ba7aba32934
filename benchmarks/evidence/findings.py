"""Findings of the evidence page, with numbers from the results."""

import numpy as np

from evidence import summary

# Name, citation, names of the methods here, whether rows without y are used.
PAPERS = (
    (
        "SVM+",
        "{cite:p}`vapnik2009lupi`",
        ("SVCPlus", "SVRPlus"),
        False,
        "a faster rate of learning; fewer errors with poetic descriptions of digits, "
        "with the structure of proteins, with the future of a series",
    ),
    (
        "IPL",
        "{cite:p}`li2018ipl`",
        ("IPL",),
        False,
        "trees whose errors are explained by X\\* are better than those without",
    ),
    (
        "LUFe",
        "{cite:p}`taylor2016lufe`",
        ("LUFe",),
        False,
        "features that a selection drops, kept as X\\*, improve on the selection alone",
    ),
    (
        "knowledge transfer",
        "{cite:p}`vapnik2015similarity`",
        ("KnowledgeTransfer",),
        False,
        "frames of the space of X\\*, regressed on X, transfer the knowledge",
    ),
    (
        "generalized distillation",
        "{cite:p}`lopezpaz2016unifying`",
        ("GeneralizedDistillation",),
        False,
        "with soft labels of a teacher of X\\*, fewer rows are needed; not where X\\* "
        "only describes the noise",
    ),
    (
        "PAST",
        "{cite:p}`xia2024surrogate`",
        ("PAST",),
        True,
        "a teacher of [X, X\\*] that labels the rows without y learns faster than the "
        "labels alone",
    ),
    (
        "coupled training",
        "{cite:p}`shi2026coupled`",
        ("Coupled",),
        True,
        "teacher and student fitted together, with rows without y, do no worse than "
        "either alone",
    ),
)


def signed(value, digits=3):
    """Return a number with its sign."""
    return f"{round(float(value), digits) + 0.0:+.{digits}f}".replace("-", "−")


def pick(lines, names, n_labels=None, hidden=None, task=None):
    """Return the tested lines of some methods and one regime."""
    return [
        line
        for line in summary.tested(lines)
        if summary.base(line["method"]) in names
        and n_labels in (None, line["n_labels"])
        and hidden in (None, bool(line["n_unlabelled"]))
        and task in (None, line["task"])
    ]


def count(part, verdict):
    """Return how many lines have a verdict."""
    return sum(line["verdict"] == verdict for line in part)


def gains(part):
    """Return the mean gains in words, AUC and R² apart."""
    words = []
    for task, score in (("classification", "AUC"), ("regression", "R²")):
        found = [line["gain"] for line in part if line["task"] == task]
        if found:
            words.append(f"{signed(np.mean(found))} {score}")
    return " and ".join(words)


def seen(part):
    """Return helps, hurts and the mean gain of some lines in words."""
    return (
        f"helps on {count(part, 'helps')} and hurts on {count(part, 'hurts')} of "
        f"{len(part)} tables, {gains(part)} in the mean"
    )


def findings(content):
    """Return the list of findings."""
    lines = content["lines"]
    told = summary.tested(lines)
    null = {table["name"] for table in content["tables"] if table["null"]}
    hedged = ("HedgedDistillation",)
    found = [
        f"- **Overall rarely.** Of {len(told)} verdicts {count(told, 'helps')} are "
        f"*helps* ({100 * count(told, 'helps') / len(told):.0f} %) and "
        f"{count(told, 'hurts')} *hurts* "
        f"({100 * count(told, 'hurts') / len(told):.0f} %)."
    ]
    parts = [
        (n, hidden, pick(lines, hedged, n, hidden))
        for hidden in (True, False)
        for n in (60, 200, 600)
    ]
    words = [
        f"{n} labels {'and rows without y' if hidden else 'alone'}: {seen(part)}"
        for n, hidden, part in parts
        if part
    ]
    found.append(
        "- **When: few labels, and rows whose y is not known.** Hedged distillation:"
        + "".join(f"\n  - {each}." for each in words)
    )
    found += [_by_gap(lines, null), _first(lines), _svm(lines), _never(lines)]
    found.append(_unlabelled(lines))
    return "\n".join(each for each in found if each)


def _by_gap(lines, null):
    part = [x for x in pick(lines, ("HedgedDistillation",), 60, True)]
    rich = [line for line in part if line["closed"] is not None]
    poor = [line for line in part if line["closed"] is None]
    if not rich or not poor:
        return ""
    nothing = [line for line in part if line["table"] in null]
    text = (
        "- **Where: X\\* between x and y.** With 60 labels and rows without y, hedged "
        f"distillation {seen(rich)}, where a model that has X\\* when predicting gains "
        f"significantly, and {seen(poor)}, where it does not"
    )
    if nothing:
        text += f"; where X\\* is known to add nothing, {gains(nothing)}"
    return text + "."


def _first(lines):
    """Rank the methods by tables helped less tables hurt, at 60 labels with y."""
    rank = []
    for hidden in (True, False):
        names = sorted({summary.base(x["method"]) for x in summary.tested(lines)})
        for name in names:
            part = pick(lines, (name,), 60, hidden)
            if part and name != "LUFe":
                score = (count(part, "helps") - count(part, "hurts")) / len(part)
                rank.append((-score, name, hidden, part))
    rank.sort(key=lambda each: each[:2])
    words = [
        f"`{name}`{' with rows without y' if hidden else ''} ({count(part, 'helps')} "
        f"helped, {count(part, 'hurts')} hurt of {len(part)})"
        for _, name, hidden, part in rank[:3]
    ]
    return (
        "- **First choice.** The numbers of tables helped minus tables hurt at 60 "
        "labels are largest for " + ", ".join(words) + "."
    )


def _svm(lines):
    part = pick(lines, ("SVCPlus", "SVRPlus"), 60)
    delta = pick(lines, ("SVCDeltaPlus",), 60)
    if not part or not delta:
        return ""
    return (
        f"- **SVM+ is not a first choice.** Tuned, with 60 labels, SVM+ {seen(part)}; "
        f"SVMΔ+ {seen(delta)}."
    )


def _never(lines):
    names = sorted({summary.base(line["method"]) for line in summary.tested(lines)})
    never, more = [], []
    for name in names:
        part = pick(lines, (name,))
        if not count(part, "helps"):
            never.append(f"`{name}`")
        elif count(part, "hurts") > count(part, "helps"):
            more.append(f"`{name}`")
    text = ""
    if never:
        text = f"- **Methods without the verdict *helps*:** {', '.join(never)}."
    if more:
        text += "\n" if text else ""
        text += f"- **Methods that hurt more often than they help:** {', '.join(more)}."
    return text


def _unlabelled(lines):
    words = []
    for name in ("HedgedDistillation", "PAST", "Coupled", "GeneralizedDistillation"):
        alone, more = (pick(lines, (name,), 60, hidden) for hidden in (False, True))
        if alone and more:
            words.append(
                f"`{name}` helps on {count(more, 'helps')} instead of "
                f"{count(alone, 'helps')} tables"
            )
    if not words:
        return ""
    return "- **Effect of rows without y** at 60 labels: " + "; ".join(words) + "."


def sentence(lines):
    """Return the sentence of README and docs/choosing.md."""
    hedged = pick(lines, ("HedgedDistillation",), 60, True)
    past, distilled = (
        pick(lines, (name,), 60, True) for name in ("PAST", "GeneralizedDistillation")
    )
    plus = pick(lines, ("SVCPlus", "SVRPlus"), 60, False)
    return (
        f"On {len(hedged)} real tables, with 60 known outcomes and up to 1000 rows "
        f"without, hedged distillation helps on {count(hedged, 'helps')} and hurts on "
        f"{count(hedged, 'hurts')}; PAST on {count(past, 'helps')} and "
        f"{count(past, 'hurts')}; generalized distillation on "
        f"{count(distilled, 'helps')} and {count(distilled, 'hurts')}; SVM+ on the 60 "
        f"rows on {count(plus, 'helps')} and {count(plus, 'hurts')}"
    )


def papers(lines):
    """Return the table of statements and measurements."""
    rows = ["| method | statement of the paper | at 60 labels |", "|---|---|---|"]
    for name, cite, methods, hidden, claim in PAPERS:
        part = pick(lines, methods, 60, hidden)
        what = seen(part) if part else "not run"
        if part and not count(part, "helps"):
            what += "; no gain on any table"
        rows.append(f"| {name} {cite} | {claim} | {what} |".replace("  |", " |"))
    return "\n".join(rows)
