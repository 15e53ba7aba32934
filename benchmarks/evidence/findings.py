"""Findings of the evidence page, with numbers from the results."""

import textwrap

import numpy as np

from evidence.summary import (
    INFORMATIVE,
    base,
    count,
    false_alarms,
    of_ceiling,
    pick,
    tested,
)

HEDGED, SVM = ("HedgedDistillation",), ("SVCPlus", "SVRPlus")
TASKS = {"classification": "AUC", "regression": "R²"}
REGIMES = {"unlabelled": " with rows without y", "labelled": " on the labels alone"}
# Name, citation, names of the methods here, regime, statement.
PAPERS = (
    (
        "SVM+",
        "{cite:p}`vapnik2009lupi`",
        SVM,
        "labelled",
        "a faster rate of learning; fewer errors with poetic descriptions of digits, "
        "with the structure of proteins, with the future of a series",
    ),
    (
        "IPL",
        "{cite:p}`li2018ipl`",
        ("IPL",),
        "labelled",
        "trees whose errors are explained by X\\* are better than those without",
    ),
    (
        "LUFe",
        "{cite:p}`taylor2016lufe`",
        ("LUFe",),
        "labelled",
        "features that a selection drops, kept as X\\*, improve on the selection alone",
    ),
    (
        "knowledge transfer",
        "{cite:p}`vapnik2015similarity`",
        ("KnowledgeTransfer",),
        "labelled",
        "frames of the space of X\\*, regressed on X, transfer the knowledge",
    ),
    (
        "generalized distillation",
        "{cite:p}`lopezpaz2016unifying`",
        ("GeneralizedDistillation",),
        "labelled",
        "with soft labels of a teacher of X\\*, fewer rows are needed; not where X\\* "
        "only describes the noise",
    ),
    (
        "PAST",
        "{cite:p}`xia2024surrogate`",
        ("PAST",),
        "unlabelled",
        "a teacher of [X, X\\*] that labels the rows without y learns faster than the "
        "labels alone",
    ),
    (
        "coupled training",
        "{cite:p}`shi2026coupled`",
        ("Coupled",),
        "unlabelled",
        "teacher and student fitted together, with rows without y, do no worse than "
        "either alone",
    ),
)


def signed(value, digits=3):
    """Return a number with its sign."""
    return f"{round(float(value), digits) + 0.0:+.{digits}f}".replace("-", "−")


def percent(value):
    """Return a share in percent."""
    return f"{100 * value:.0f} %".replace("-", "−")


def gains(part, shuffled=False):
    """Return the mean gains, of X* or shuffled X*, in words, AUC and R² apart."""
    words = []
    for task, score in TASKS.items():
        found = [
            line["arms"]["shuffled"] - line["arms"]["without"]
            if shuffled
            else line["gain"]
            for line in part
            if line["task"] == task
        ]
        if found:
            words.append(f"{signed(np.mean(found))} {score}")
    return " and ".join(words)


def verdicts(part):
    """Return helps and hurts of some lines in words."""
    helped, hurt = count(part, "helps"), count(part, "hurts")
    return f"helps on {helped} and hurts on {hurt} of {len(part)} tables"


def seen(part):
    """Return helps, hurts and the mean gain of some lines in words."""
    return f"{verdicts(part)}, {gains(part)} in the mean"


def gap_closed(part):
    """Return the share of the gap to the ceiling in words; empty where not measured."""
    whole = of_ceiling(part)
    if whole is None:
        return ""
    words = []
    for task, score in TASKS.items():
        found = of_ceiling([line for line in part if line["task"] == task])
        if found is not None:
            words.append(f"{score} {percent(found['median'])}")
    return f"{percent(whole['median'])} ({', '.join(words)})"


def findings(lines, null):
    """Return the list of findings; those of parts that were not run are left out."""
    told = tested(lines)
    shares = [
        f"{gap_closed(part)} with {n} known outcomes"
        for n in (60, 200)
        if gap_closed(part := pick(lines, HEDGED, n, "unlabelled"))
    ]
    first = pick(lines, HEDGED, 60, "unlabelled")
    found = [
        "- **Few known outcomes, and many rows without one.** With "
        "60 known outcomes and up to 1000 rows without, hedged distillation "
        f"{seen(first)}; with the 60 rows alone it "
        f"{verdicts(pick(lines, HEDGED, 60, 'labelled'))}."
    ]
    if shares:
        found.insert(
            0,
            "- **Share of the gap to knowing every outcome.** Hedged distillation "
            f"closes {', and '.join(shares)} (median over the tables whose X\\* is "
            "informative).",
        )
    found += [_boosted(lines), _wrong_labels(lines), _by_gap(first, null)]
    found += [_first(lines), _svm(lines), _never(lines)]
    helped, hurt = (count(told, verdict) for verdict in ("helps", "hurts"))
    found.append(
        f"- **All methods.** Of {len(told)} verdicts over all methods {helped} are "
        f"*helps* ({percent(helped / len(told))}) and {hurt} *hurts* "
        f"({percent(hurt / len(told))})."
    )
    return "\n".join(each for each in found if each)


def _boosted(lines):
    words = []
    for n in (200, 600, 1500):
        trees = pick(lines, ("Hedged, boosted",), n, "unlabelled")
        both = pick(lines, ("Hedged, ridge and boosted",), n, "unlabelled")
        ridge = pick(lines, HEDGED, n, "unlabelled")
        ridge = {line["table"]: line["arms"]["with"] for line in ridge}
        ahead = [
            line["arms"]["with"] > ridge[line["table"]]
            for line in both
            if line["table"] in ridge
        ]
        if trees and both:
            text = (
                f"with {n} known outcomes {gains(trees)} in the mean "
                f"({gains(trees, shuffled=True)} with shuffled X\\*)"
            )
            if ahead:
                text += (
                    "; `student=[ridge, boosting]` is better than ridge alone on "
                    f"{sum(ahead)} of {len(ahead)} tables"
                )
            words.append(text)
    if not words:
        return ""
    return (
        "- **Boosted students.** The gain of hedged distillation of boosted trees, "
        "with rows without y, over the same trees is" + _items(words)
    )


def _wrong_labels(lines):
    words = []
    for name, label in (
        ("NoisyLabel", "logistic regression"),
        ("NoisyLabel, boosted", "boosted trees"),
    ):
        for n in (600, 1500):
            part = [x for k in ("six", "time") for x in pick(lines, (name,), n, k)]
            if part:
                worst = min(line["gain"] for line in part)
                words.append(
                    f"{label}, {n} labels: {gains(part)} in the mean (worst "
                    f"{signed(worst)}; {gains(part, shuffled=True)} with shuffled X\\*)"
                )
    if not words:
        return ""
    return (
        "- **Wrong labels that X\\* explains** (who gave a label, how long it took), "
        "`NoisyLabelClassifier`" + _items(words)
    )


def _items(words):
    return ":" + "".join(f"\n  - {each}." for each in words)


def _by_gap(part, null):
    rich = [line for line in part if line["gap"] > INFORMATIVE]
    poor = [line for line in part if line["gap"] <= INFORMATIVE]
    if not rich or not poor:
        return ""
    nothing = [line for line in part if line["table"] in null]
    text = (
        "- **The content of X\\*.** With 60 known outcomes and rows without, "
        f"hedged distillation {seen(rich)}, where a model that has X\\* when "
        f"predicting gains more than {INFORMATIVE}, and {seen(poor)}, where it does not"
    )
    if nothing:
        text += f"; where X\\* is known to add nothing, {gains(nothing)}"
    return text + "."


def _first(lines):
    """Rank the methods by tables helped less tables hurt, at 60 labels with y."""
    rank = []
    for regime, said in REGIMES.items():
        for name in sorted({base(x["method"]) for x in tested(lines)}):
            part = pick(lines, (name,), 60, regime)
            if part:
                helped, hurt = count(part, "helps"), count(part, "hurts")
                text = f"`{name}`{said} ({helped} helped, {hurt} hurt of {len(part)})"
                rank.append(((hurt - helped) / len(part), name, text))
    words = [text for *_, text in sorted(rank)[:3]]
    return (
        "- **Ranking.** Tables helped minus tables hurt at 60 labels are most for "
        + ", ".join(words)
        + "."
    )


def _svm(lines):
    part, delta = pick(lines, SVM, 60), pick(lines, ("SVCDeltaPlus",), 60)
    if not part or not delta:
        return ""
    return f"- **SVM+.** Tuned, with 60 labels, SVM+ {seen(part)}; SVMΔ+ {seen(delta)}."


def _never(lines):
    never, more = [], []
    for name in sorted({base(line["method"]) for line in tested(lines)}):
        parts = {
            said: pick(lines, (name,), regime=regime)
            for regime, said in REGIMES.items()
        }
        if any(parts.values()) and not any(count(p, "helps") for p in parts.values()):
            never.append(f"`{name}`")
            continue
        for said, part in parts.items():
            if count(part, "hurts") > count(part, "helps"):
                more.append(f"`{name}`{said}")
    text = ""
    if never:
        text = f"- **Methods without the verdict *helps*:** {', '.join(never)}."
    if more:
        text += "\n" if text else ""
        text += f"- **More often hurt than help:** {', '.join(more)}."
    return text


def papers(lines):
    """Return the rows of statements and measurements."""
    rows = []
    for name, cite, methods, regime, claim in PAPERS:
        part = pick(lines, methods, 60, regime)
        rows.append((f"{name} {cite}", claim, seen(part) if part else "not run"))
    return rows


# -- sentences of other pages ------------------------------------------------------


def one_sentence(lines):
    """Return the sentence of the start page."""
    part = pick(lines, HEDGED, 60, "unlabelled")
    helped, hurt = count(part, "helps"), count(part, "hurts")
    return (
        f"With 60 known outcomes and up to 1000 rows without, it helps on {helped} and "
        f"hurts on {hurt} of [{len(part)} real tables](evidence.md)."
    )


def overview(lines):
    """Return the table and the sentence of README and docs/choosing.md."""
    distillation = ("GeneralizedDistillation",)
    text = (
        "| with 60 known outcomes | rows without y | helps on | hurts on | of tables |"
        "\n|---|---|---|---|---|"
    )
    for words, names, regime in (
        ("hedged distillation", HEDGED, "unlabelled"),
        ("PAST", ("PAST",), "unlabelled"),
        ("generalized distillation", distillation, "unlabelled"),
        ("hedged distillation", HEDGED, "labelled"),
        ("SVM+", SVM, "labelled"),
    ):
        if part := pick(lines, names, 60, regime):
            many = "up to 1000" if regime == "unlabelled" else "none"
            told = count(part, "helps"), count(part, "hurts"), len(part)
            text += f"\n| {words} | {many} | {' | '.join(map(str, told))} |"
    shares = [gap_closed(pick(lines, HEDGED, n, "unlabelled")) for n in (60, 200)]
    if all(shares):
        said = (
            "Of the gap to knowing all outcomes, hedged distillation with rows "
            f"without y closes {shares[0]} with 60 known ones, and {shares[1]} with "
            "200 (median over the tables with informative X\\*; `make evidence`)."
        )
        text += "\n\n" + _wrapped(said)
    return text


def of_method(names, lines):
    """Return helps and hurts of a method at 60 labels, all of them known."""
    return verdicts(pick(lines, names, 60, "labelled"))


def paragraphs(lines):
    """Return the results as they stand in the paper."""
    words = []
    for n in (60, 200, 600):
        part = pick(lines, HEDGED, n, "unlabelled")
        if part:
            what = "up to 1000 rows without an outcome" if n == 60 else "such rows"
            words.append(f"with {n} labels and {what} {seen(part)}")
            if gap_closed(part):
                words[-1] += f", and closes {gap_closed(part)} of the gap"
    items = [_wrapped(f"- {each}", "  ") for each in words]
    told, alone = tested(lines), pick(lines, HEDGED, 60, "labelled")
    text = f"On the 60 labelled rows alone it {verdicts(alone)}. "
    if plus := pick(lines, SVM, 60):
        text += f"Tuned SVM+ {verdicts(plus)}. "
    helped, hurt = (count(told, each) / len(told) for each in ("helps", "hurts"))
    alarm = false_alarms(lines, "p_shuffled_helps")
    text += (
        f'Over all methods {percent(helped)} of the verdicts are "helps" and '
        f'{percent(hurt)} are "hurts". The results largely agree with the doubts of '
        "@provodin2024rethinking where all rows are labelled, and show where a gain "
        "remains. With shuffled columns in the place of the privileged ones, which "
        'cannot help, the verdict of methods that have all controls is "helps" in '
        f"{alarm['hits']} of {alarm['count']} cases ({100 * alarm['share']:.1f} %)."
    )
    return ";\n".join(items) + ".\n\n" + _wrapped(text)


def _wrapped(text, indent=""):
    return textwrap.fill(text, 92, subsequent_indent=indent, break_on_hyphens=False)
