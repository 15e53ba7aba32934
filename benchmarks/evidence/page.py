"""Write docs/evidence.md and its figure from docs/evidence.json and page.md."""

import json
import shutil
from pathlib import Path
from string import Template

import numpy as np

from evidence import summary
from evidence.findings import findings, papers, sentence

NAME = "evidence.json"
PAGE = Path(__file__).parent / "page.md"
# Where the sentence of the findings stands: file, what is before it, what follows.
PLACES = (
    (
        "../README.md",
        "| result | command |\n|---|---|\n| ",
        " | `make evidence` |",
    ),
    ("choosing.md", "## Measured gains\n\n", " (`make evidence`)."),
)
REGIMES = {
    "labelled": "all training rows labelled",
    "unlabelled": "and up to 1000 rows without y",
}
TASKS = {"classification": "AUC", "regression": "R²"}
SHOWN = {
    "HedgedDistillation": "hedged",
    "PAST": "PAST",
    "Coupled": "coupled",
    "GeneralizedDistillation": "distillation",
    "SVCPlus": "SVM+",
    "SVRPlus": "SVM+",
    "SVCDeltaPlus": "SVMΔ+",
}


def write(found, docs):
    """Copy the result of a run into the docs folder, and write page and figure."""
    from evidence import figure

    docs = Path(docs)
    content = json.loads(Path(found).read_text(encoding="utf-8"))
    if Path(found) != docs / NAME:
        shutil.copyfile(found, docs / NAME)
    (docs / "evidence.md").write_text(render(content), encoding="utf-8")
    told = sentence(content["lines"])
    for path, before, after in PLACES:
        place = docs / path
        text = place.read_text(encoding="utf-8")
        start, _, rest = text.partition(before)
        place.write_text(
            start + before + told + after + rest.partition(after)[2], encoding="utf-8"
        )
    figure.draw(content, docs / "images")


def signed(value, digits=3):
    """Return a number with its sign, or a dash."""
    if value is None:
        return "–"
    return f"{round(value, digits) + 0.0:+.{digits}f}".replace("-", "−")


def percent(value):
    """Return a share in percent, or a dash."""
    return "–" if value is None else f"{100 * value:.0f} %".replace("-", "−")


def lines_of(rows):
    """Return the rows of a Markdown table as text."""
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)


def render(content):
    """Return the page."""
    lines, run = content["lines"], content["run"]
    done, asked = run["units"]
    budget = "all of them" if done == asked else f"the first {done} of {asked}"
    words = ("commit", "machine", "n_candidates", "inner_folds", "seed")
    return Template(PAGE.read_text(encoding="utf-8")).substitute(
        {key: run[key] for key in words},
        n_tables=len({line["table"] for line in lines}),
        n_null=sum(table["null"] for table in content["tables"]),
        n_lines=len(summary.tested(lines)),
        n_methods=len({summary.base(line["method"]) for line in lines}),
        versions=", ".join(f"{name} {each}" for name, each in run["versions"].items()),
        minutes=round(run["core_minutes"]),
        budget=budget,
        findings=findings(content),
        methods=methods(lines),
        wanted=wanted(lines),
        papers=papers(lines),
        truth=truth(content),
        tables=by_table(content),
        about=about(content["tables"]),
    )


def methods(lines):
    """Return one Markdown table per number of labels and regime."""
    blocks = {}
    for each in summary.by_method(lines):
        place = (each["n_labels"], each["regime"])
        blocks.setdefault(place, {}).setdefault(each["method"], {})[each["task"]] = each
    outside = _outside(lines)
    text = []
    for (n_labels, regime), found in sorted(blocks.items()):
        rows = []
        for name, tasks in found.items():
            parts = list(tasks.values())
            n_tables = sum(part["n_tables"] for part in parts)
            worst = min(parts, key=lambda part: part["worst"])
            row = [f"`{name}`", min(part["n_splits"] for part in parts), n_tables]
            for task in TASKS:
                part = tasks.get(task)
                row.append(signed(part["gain"]) if part else "–")
            for task in TASKS:
                part = tasks.get(task)
                row.append(
                    f"{percent(part['closed'])} ({part['n_gap']})" if part else "–"
                )
            row.append(sum(len(part["helps"]) for part in parts))
            row.append(sum(len(part["hurts"]) for part in parts))
            row.append(f"{signed(worst['worst'])} ({worst['worst_table']})")
            seconds = sum(part["seconds"] * part["n_tables"] for part in parts)
            row.append(f"{seconds / n_tables:.2f}")
            order = np.mean([len(p["helps"]) - len(p["hurts"]) for p in parts])
            rows.append((-order, row))
        rows = [row for _, row in sorted(rows, key=lambda pair: pair[0])]
        head = [
            *("method", "splits", "tables", "gain, AUC", "gain, R²"),
            *("gap closed, AUC", "gap closed, R²", "helps", "hurts", "worst", "s"),
        ]
        title = f"### {n_labels} labels, {REGIMES[regime]}"
        table = lines_of([head, ["---"] * len(head), *rows])
        block = f"{title}\n\n{table}"
        if regime == "labelled" and n_labels in outside:
            block += "\n\n" + outside[n_labels]
        text.append(block)
    return "\n\n".join(text)


def _outside(lines):
    """Compare gradient boosting without X* with ridge regression without X*."""
    scores = {}
    for line in lines:
        name = summary.base(line["method"])
        rivals = name in ("HistGradientBoosting", "HedgedDistillation")
        if rivals and not line["n_unlabelled"]:
            place = scores.setdefault((line["n_labels"], line["task"]), {})
            place.setdefault(name, {})[line["table"]] = line["arms"]["without"]
    text = {}
    for (n_labels, task), found in sorted(scores.items()):
        if len(found) < 2:
            continue
        trees, ridge = found["HistGradientBoosting"], found["HedgedDistillation"]
        gains = [trees[name] - ridge[name] for name in ridge if name in trees]
        won = sum(gain > 0 for gain in gains)
        sentence = (
            f"{signed(float(np.mean(gains)))} {TASKS[task]} in the mean, ahead on "
            f"{won} of {len(gains)} tables"
        )
        text.setdefault(n_labels, []).append(sentence)
    start = (
        "Gradient boosting without X\\*, the external baseline, compared with ridge "
        "regression without X\\*, the baseline of hedged distillation: "
    )
    return {n: start + "; ".join(each) + "." for n, each in text.items()}


def wanted(lines):
    """Return the targets, met or missed."""
    found = summary.wanted(lines)
    if not found["all"]["n_gap"]:
        return "Not run."
    head = ["", "tables", "with a gap", "helps (target ≥ 60 %)", "hurts (target none)"]
    head += ["gap closed, median (target ≥ 15 %)", "hurts, other tables"]
    rows = []
    for name, label in {"all": "all", **TASKS}.items():
        each = found[name]
        if not each["n_gap"]:
            continue
        share = each["helps"] / each["n_gap"]
        rows.append(
            [
                label,
                each["n_tables"],
                each["n_gap"],
                f"{each['helps']} = {percent(share)}: {_met(share >= 0.6)}",
                f"{_harm(each['hurts'])}: {_met(not each['hurts'])}",
                f"{percent(each['closed'])}: {_met(each['closed'] >= 0.15)}",
                _harm(each["hurts_others"]),
            ]
        )
    return lines_of([head, ["---"] * len(head), *rows])


def _harm(hurt):
    return ", ".join(f"{name} {signed(gain)}" for name, gain in hurt.items()) or "none"


def _met(good):
    return "met" if good else "missed"


def truth(content):
    """Return the shares of false positives with their intervals."""
    found = summary.truth(content["lines"])

    def words(each):
        share, low, high = (100 * each[key] for key in ("share", "low", "high"))
        count = f"{each['hits']} of {each['count']} rows, {share:.1f} %"
        return f"{count} (95 % interval {low:.1f} to {high:.1f} %)"

    met = _met(found["shuffled"]["share"] <= 0.05)
    text = (
        'The verdict "helps" is an error for an X\\* that cannot help. With *shuffled* '
        "X\\* in the place of X\\* (against *without*, a second shuffle and *self*) "
        f"its frequency is {words(found['shuffled'])}; target at most 5 %: {met}. Over "
        "all methods, most of which have no second shuffle as a control, it is "
        f"{words(found['shuffled_all'])}. With a copy of X in the place of X\\* it is "
        f"0 of {found['self']['count']} rows by construction, because the control is "
        "the same model. Without that control it would be "
        f"{words(found['self_uncontrolled'])}. Rows of one table are not independent, "
        "so that the intervals are too narrow."
    )
    power = content.get("generators")
    if not power:
        return (
            f"{text}\n\nThe power on generated data with a gain is under *Generated "
            "data* and in the [guide](guide/evaluation.md)."
        )
    head = ["data, method", "labels", "rows without y", "draws", "helps", "hurts"]
    head.append("gain")
    keys = ("n_labels", "n_unlabelled", "count", "helps", "hurts")
    rows = [
        [f"`{each['data']}`", *(each[key] for key in keys), signed(each["gain"])]
        for each in power
    ]
    return (
        f"{text}\n\nThe power was measured on generated data, for which the truth is "
        "known (`python benchmarks/leaderboard.py --generators`):\n\n"
        + lines_of([head, ["---"] * len(head), *rows])
    )


def about(tables):
    """Return what the tables are, as a list."""
    return "\n".join(
        f"- **{table['name']}**{_null(table)}: {table['subject']}, {table['n_rows']} "
        f"rows. {table['why_privileged']} {table['source']}; {table['license']}."
        for table in tables
    )


def _null(table):
    return " (null)" if table["null"] else ""


def by_table(content):
    """Return one row per table at 60 labels."""
    chosen = {}
    for line in summary.tested(content["lines"]):
        name = SHOWN.get(summary.base(line["method"]))
        if line["n_labels"] == 60 and name:
            regime = " +u" if line["n_unlabelled"] else ""
            chosen.setdefault(line["table"], {})[name + regime] = line
    columns = ["hedged +u", "hedged", "distillation +u", "distillation", "PAST +u"]
    columns += ["coupled +u", "SVM+", "SVMΔ+"]
    head = ["table", "score", "without", "oracle's gap", *columns]
    rows = []
    for table in content["tables"]:
        found = chosen.get(table["name"])
        if not found or "hedged" not in found:
            continue
        line = found["hedged"]
        rows.append(
            [
                table["name"] + _null(table),
                TASKS[table["task"]],
                f"{line['arms']['without']:.3f}".replace("-", "−"),
                signed(line["gap"]) + (" ●" if line["closed"] is not None else ""),
                *(_cell(found.get(column)) for column in columns),
            ]
        )
    return lines_of([head, ["---"] * len(head), *rows])


def _cell(line):
    if line is None:
        return "–"
    mark = {"helps": "**", "hurts": "*"}.get(line["verdict"], "")
    return f"{mark}{signed(line['gain'])}{mark}"
