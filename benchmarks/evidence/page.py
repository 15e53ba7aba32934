"""Write the pages of the evidence and their figure from docs/evidence.json."""

import json
from functools import partial
from pathlib import Path
from string import Template

import numpy as np

from evidence import findings, summary
from evidence.findings import TASKS, percent, signed

NAME = "evidence.json"
HERE = Path(__file__).parent
PAGES = {"evidence.md": "page.md", "evidence-details.md": "details.md"}
SVM, DELTA, IPL, GB = findings.SVM, ("SVCDeltaPlus",), ("IPL",), ("GBPlus",)
# Sentences of other pages: file, what is before them, what follows, and which.
PLACES = (
    (
        "../README.md",
        "in the same run, on two cores.\n\n",
        "\n\n| result | command |",
        findings.overview,
    ),
    (
        "choosing.md",
        "## Measured gains\n\n",
        "\n\n[The evidence]",
        findings.overview,
    ),
    ("choosing.md", "outcomes, SVMΔ+ ", " and IPL", partial(findings.of_method, DELTA)),
    ("choosing.md", "and IPL\n", " of [the", partial(findings.of_method, IPL)),
    ("guide/svm.md", "tuned SVM+ ", " and SVMΔ+", partial(findings.of_method, SVM)),
    ("guide/svm.md", "and SVMΔ+ ", " of\n[the", partial(findings.of_method, DELTA)),
    ("guide/boosting.md", "tuned IPL ", " and\nGB+", partial(findings.of_method, IPL)),
    ("guide/boosting.md", "and\nGB+ ", " of [the", partial(findings.of_method, GB)),
    (
        "index.md",
        "also uses rows whose y is not known\nyet.\n",
        "\nOther models",
        findings.one_sentence,
    ),
    (
        "../paper/paper.md",
        "compared with the same student on the labelled rows alone,\n\n",
        "\n\nOn the clinical trial",
        findings.paragraphs,
    ),
)
REGIMES = {
    "labelled": "all training rows labelled",
    "unlabelled": "and up to 1000 rows without y",
    "six": "wrong labels of six annotators",
    "time": "wrong labels, fewer with time",
}
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
    """Copy the result of a run into the docs folder, and write pages and figure."""
    from evidence import figure

    docs = Path(docs)
    content = json.loads(Path(found).read_text(encoding="utf-8"))
    (docs / NAME).write_text(summary.dumps(content), encoding="utf-8")
    for name in PAGES:
        (docs / name).write_text(render(content, name), encoding="utf-8")
    for path, before, after, words in PLACES:
        text = (docs / path).read_text(encoding="utf-8")
        start, _, rest = text.partition(before)
        told = before + words(content["lines"]) + after
        text = start + told + rest.partition(after)[2]
        (docs / path).write_text(text, encoding="utf-8")
    figure.draw(content, docs / "images")


def table(head, rows):
    """Return a Markdown table."""
    rows = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)


def render(content, name):
    """Return one of the pages."""
    lines, run = content["lines"], content["run"]
    done, asked = run["units"]
    budget = "all of them" if done == asked else f"the first {done} of {asked}"
    words = ("commit", "machine", "n_candidates", "inner_folds", "seed")
    null = {each["name"] for each in content["tables"] if each["null"]}
    # What follows a comma is another student of the same method.
    names = {summary.base(line["method"]) for line in summary.tested(lines)}
    return Template((HERE / PAGES[name]).read_text(encoding="utf-8")).substitute(
        {key: run[key] for key in words},
        n_tables=len({line["table"] for line in lines}),
        n_null=len(null),
        n_lines=len(summary.tested(lines)),
        n_methods=len({name for name in names if "," not in name}),
        versions=", ".join(f"{name} {each}" for name, each in run["versions"].items()),
        minutes=round(run["core_minutes"]),
        budget=budget,
        informative=summary.INFORMATIVE,
        alt="Gains of hedged distillation and SVM+ on every table, with 95 % intervals",
        findings=findings.findings(lines, null),
        hedged=hedged(lines),
        noise=noise(lines),
        methods=methods(lines),
        papers=table(
            ["method", "statement of the paper", "at 60 labels"], findings.papers(lines)
        ),
        truth=truth(lines),
        tables=by_table(content),
        about=about(content["tables"]),
    )


# -- the summary -------------------------------------------------------------------


def _means(part):
    """Return the mean gains of AUC and R², or dashes."""
    by_task = [[x["gain"] for x in part if x["task"] == task] for task in TASKS]
    return [signed(np.mean(found)) if found else "–" for found in by_task]


def _share(part):
    """Return the share of the gap to the ceiling with its interval, or a dash."""
    found = summary.of_ceiling(part)
    if found is None:
        return "–"
    ends = f"{percent(found['low'])} to {percent(found['high'])}"
    return f"{percent(found['median'])} ({ends})"


def hedged(lines):
    """Return one row per number of labels, regime and student."""
    head = ["known outcomes", "rows without y", "student", "tables", "helps", "hurts"]
    head += ["gain, AUC", "gain, R²", "share of the gap"]
    students = {"HedgedDistillation": "ridge", "Hedged, boosted": "boosted"}
    students["Hedged, ridge and boosted"] = "both"
    rows = []
    for regime in ("unlabelled", "labelled"):
        for name, student in students.items():
            for n in (60, 200, 600, 1500):
                part = summary.pick(lines, (name,), n, regime)
                if part:
                    many = "up to 1000" if regime == "unlabelled" else "none"
                    told = (summary.count(part, each) for each in ("helps", "hurts"))
                    rows.append([n, many, student, len(part), *told, *_means(part)])
                    rows[-1].append(_share(part) if regime == "unlabelled" else "–")
    return table(head, rows)


def noise(lines):
    """Return the section on wrong labels, or nothing where they were not run."""
    head = ["labels", "X\\*", "student", "tables", "helps", "hurts", "gain, AUC"]
    head += ["worst", "shuffled X\\*", "share of the gap"]
    rows = []
    names = {"NoisyLabel": "logistic regression", "NoisyLabel, boosted": "boosted"}
    for name, student in names.items():
        for n in (600, 1500):
            for kind, said in (("six", "six annotators"), ("time", "time")):
                part = summary.pick(lines, (name,), n, kind)
                if part:
                    told = (summary.count(part, each) for each in ("helps", "hurts"))
                    row = [n, said, student, len(part), *told, _means(part)[0]]
                    row.append(signed(min(line["gain"] for line in part)))
                    row += [signed(summary.shuffled_gain(part)), _share(part)]
                    rows.append(row)
    if not rows:
        return ""
    return (
        "## Labels that are wrong for reasons that X\\* describes\n\n"
        "`NoisyLabelClassifier` on labels of which about a quarter is wrong, compared "
        "with the same student on these labels. The gap is that to the right labels; "
        "its share is the median over the tables where it is significant.\n\n"
        + table(head, rows)
    )


# -- the details -------------------------------------------------------------------


def methods(lines):
    """Return one Markdown table per number of labels and regime."""
    blocks = {}
    for line in summary.tested(lines):
        place = blocks.setdefault((line["n_labels"], line["regime"]), {})
        place.setdefault(summary.base(line["method"]), []).append(line)
    outside = _outside(lines)
    text = []
    for (n_labels, regime), found in sorted(blocks.items()):
        rows = []
        for name, part in found.items():
            worst = min(part, key=lambda line: line["gain"])
            share = summary.of_ceiling(part)
            told = [summary.count(part, each) for each in ("helps", "hurts")]
            row = [f"`{name}`" if "," not in name else name, len(part)]
            row += [min(line["n_splits"] for line in part), *_means(part)]
            row.append(signed(summary.shuffled_gain(part)))
            row.append(
                f"{percent(share['median'])} ({share['n_tables']})" if share else "–"
            )
            row += [*told, f"{signed(worst['gain'])} ({_words(worst['table'])})"]
            row.append(f"{np.mean([line['seconds'] for line in part]):.2f}")
            rows.append((told[1] - told[0], row))
        head = ["method", "tables", "splits", "gain, AUC", "gain, R²"]
        head += ["shuffled X\\*", "of the gap", "helps", "hurts", "worst", "s"]
        rows = [row for _, row in sorted(rows, key=lambda pair: pair[0])]
        block = f"### {n_labels} labels, {REGIMES[regime]}\n\n{table(head, rows)}"
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
        if rivals and line["regime"] == "labelled":
            place = scores.setdefault((line["n_labels"], line["task"]), {})
            place.setdefault(name, {})[line["table"]] = line["arms"]["without"]
    text = {}
    for (n_labels, task), found in sorted(scores.items()):
        if len(found) < 2:
            continue
        trees, ridge = found["HistGradientBoosting"], found["HedgedDistillation"]
        gains = [trees[name] - ridge[name] for name in ridge if name in trees]
        won = sum(gain > 0 for gain in gains)
        text.setdefault(n_labels, []).append(
            f"{signed(np.mean(gains))} {TASKS[task]} in the mean, ahead on {won} of "
            f"{len(gains)} tables"
        )
    start = (
        "Gradient boosting without X\\*, the external baseline, compared with ridge "
        "regression without X\\*, the baseline of hedged distillation: "
    )
    return {n: start + "; ".join(each) + "." for n, each in text.items()}


def truth(lines):
    """Return the shares of false positives with their intervals."""

    def words(key):
        each = summary.false_alarms(lines, key)
        share, low, high = (100 * each[name] for name in ("share", "low", "high"))
        rows = f"{each['hits']} of {each['count']} rows, {share:.1f} %"
        return f"{rows} (95 % interval {low:.1f} to {high:.1f} %)"

    return (
        'The verdict "helps" is an error for an X\\* that cannot help. With shuffled '
        "X\\* in the place of X\\* (against without X\\*, another shuffled X\\* and X "
        "as X\\*) "
        f"its frequency is {words('p_shuffled_helps')}; the target is at most 5 %. "
        "With X as X\\*, in the place of X\\*, it is zero by construction, because the "
        "control is the same model; without that control it would be "
        f"{words('p_self_helps')}. Rows of one table are not independent, so that the "
        "intervals are too narrow. [The guide](guide/evaluation.md) has the power."
    )


def about(tables):
    """Return what the tables are, as a list."""
    return "\n".join(
        f"- **{each['name']}**{_null(each)}: {each['subject']}, {each['n_rows']} "
        f"rows. {each['why_privileged']} {each['source']}; {each['license']}."
        for each in tables
    )


def _null(each):
    return " (null)" if each["null"] else ""


def _words(name):
    """Return the name of a table as words, which can be wrapped."""
    return name.replace("_", " ")


def by_table(content):
    """Return one row per table and number of labels."""
    columns = ["hedged +u", "hedged", "distillation +u", "distillation", "PAST +u"]
    columns += ["coupled +u", "SVM+", "SVMΔ+"]
    head = ["table", "score", "without X\\*", "oracle", "ceiling", "share", *columns]
    text = []
    for n_labels in (60, 200):
        chosen = {}
        for line in summary.tested(content["lines"]):
            name = SHOWN.get(summary.base(line["method"]))
            if line["n_labels"] == n_labels and name and line["regime"] in REGIMES:
                regime = " +u" if line["regime"] == "unlabelled" else ""
                chosen.setdefault(line["table"], {})[name + regime] = line
        rows = []
        for each in content["tables"]:
            found = chosen.get(each["name"], {})
            if "hedged +u" not in found:
                continue
            line = found["hedged +u"]
            room, share = line.get("room"), line.get("share")
            row = [_words(each["name"]) + _null(each), TASKS[each["task"]]]
            row.append(f"{line['arms']['without']:.3f}".replace("-", "−"))
            row.append(signed(line["gap"]))
            row.append("–" if room is None else signed(room))
            row.append("–" if share is None else percent(share))
            rows.append([*row, *(_cell(found.get(column)) for column in columns)])
        if rows:
            text.append(f"### {n_labels} labels\n\n{table(head, rows)}")
    return (
        "Gains over the arm without X\\*: **bold** helps, *italic* hurts, +u means "
        "with rows without y. *oracle* and *ceiling* are the gains of a ridge "
        "regression that has X\\* when predicting, and of one that knows y of all "
        "training rows; "
        "*share* is that of the ceiling which hedged +u reaches, where the ceiling's "
        "gain is significant.\n\n" + "\n\n".join(text)
    )


def _cell(line):
    if line is None:
        return "–"
    mark = {"helps": "**", "hurts": "*"}.get(line["verdict"], "")
    return f"{mark}{signed(line['gain'])}{mark}"
