"""The content of the report, which is one page without external resources."""

from __future__ import annotations

import ast
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lupi.evaluation import Comparison
from lupi.evaluation._verdict import training_rows
from lupi.report import Usage, notebook_html, render_html
from tests.comparisons import ARMS, learning_curve, of_gains, of_scores
from tests.drawing import undrawn

SCRIPT = "<script>document.title='run'</script>"
DAYS = {"time": "day"}
CURVES = {"GBPlusClassifier": learning_curve("GBPlusClassifier")}


class Reader(HTMLParser):
    """Collects tags, attributes and the text a reader sees."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.links, self.texts = [], [], []
        self.hidden = 0
        # Places where a name may break are not seen.
        self.feed(page.replace("<wbr>", ""))
        self.text = " ".join(self.texts)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.hidden += tag in ("style", "title")
        for name, value in attributes:
            if name in ("src", "href", "action", "data", "poster"):
                self.links.append(value)

    def handle_endtag(self, tag):
        self.hidden -= tag in ("style", "title")

    def handle_data(self, data):
        if not self.hidden and data.strip():
            self.texts.append(" ".join(data.split()))


@pytest.fixture(scope="module")
def comparison():
    """Two methods, one of which X* helps, with all that a comparison may add."""
    result = of_gains()
    result.settings["outside"] = {
        "name": "HistGradientBoostingClassifier",
        "score": 0.612,
        "low": 0.589,
        "high": 0.635,
    }
    result.settings["made"] = {
        "date": "2026-11-15T21:00:00+00:00",
        "versions": {"lupi": "0.1", "numpy": "2.0"},
        "command": "lupi compare patients.csv --seed 0",
        "again": "lupi compare --from out/results.json --out out-again",
    }
    message = "ConvergenceWarning: did not converge"
    result.warnings.append({"method": "SVCPlus", "message": message, "count": 3})
    return result


def render(comparison):
    return render_html(comparison, Usage("patients.csv", "out/model.skops"), CURVES)


def read(comparison, *how):
    """Return the text of a page, whose charts are not drawn."""
    with undrawn():
        page = render_html(comparison, *how) if how else render(comparison)
    return Reader(page).text


@pytest.fixture(scope="module")
def page(comparison):
    return render(comparison)


@pytest.fixture(scope="module")
def text(page):
    return Reader(page).text


def test_the_page_opens_with_the_verdict(page):
    texts = Reader(page).texts
    assert texts[0] == "Does the privileged information help? patients.csv"
    assert texts[1].startswith("The privileged information helps: with it, GBPlus")


def test_the_page_loads_nothing_and_runs_nothing(page):
    reader = Reader(page)
    assert "script" not in reader.tags
    assert reader.links == ["data:,"]
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src 'none'" in page
    assert not re.search(r"\son\w+=", page)


def test_scores_gains_and_tests_are_those_of_the_folds(text, comparison):
    folds = comparison.folds
    for method in comparison.methods:
        own = folds[folds["method"] == method]
        mean = own.groupby("arm")["score"].mean()
        for arm in ARMS:
            assert f"{mean[arm]:.3f}" in text
        controls = mean[["without", "shuffled", "self"]]
        gain = f"{mean['with'] - controls.max():+.3f}".replace("-", "−")
        line = comparison.summary.set_index("method").loc[method]
        ends = f"({line['gain_low']:+.3f} to {line['gain_high']:+.3f})"
        assert f"{gain} {ends.replace('-', '−')}" in text


def test_facts_of_the_data_are_there(text):
    assert "200, of which 10 have no privileged information" in text
    assert "2: age and weight" in text
    assert "1: cd4" in text
    assert "10 splits, 180 training rows, and 20 test rows" in text
    assert "12 candidates for each arm, method and split, chosen by 3-fold" in text
    assert "on the training rows" in text
    boosting = "HistGradientBoostingClassifier (external baseline, 180 training rows)"
    assert f"{boosting} 0.612" in text
    assert "(180 training rows), scores 0.612 (95 % interval 0.589 to 0.635)." in text
    assert "(Holm; p_gain of results.csv is not)" in text


def test_every_method_has_parameters_splits_curve_timing_and_warnings(text):
    assert "Pasunuri et al. 2016" in text
    assert text.count("Split by split") == 2
    assert text.count("10 (7×), 1 (3×)") == 2
    assert text.count("Learning curve") == 1
    assert "keeps the parameters that were chosen with 180 rows" in text
    assert text.count("fits on all splits: 25 s") == 2
    assert text.count("The scores of all 10 splits") == 2
    assert text.count("Use the model") == 1
    assert "did not converge (3 times)" in text
    assert "ConvergenceWarning" not in text


def test_every_score_of_every_split_is_on_the_page(page, comparison):
    for section in page.split('<section class="one">')[1:3]:
        cells = re.findall(r'<td class="number">([^<]*)</td>', section)
        method = next(name for name in comparison.methods if name in section)
        folds = comparison.folds[comparison.folds["method"] == method]
        expected = folds.pivot(index="split", columns="arm", values="score")
        expected = expected[list(ARMS)].to_numpy()
        np.testing.assert_allclose(np.array(cells, float), expected.ravel(), atol=6e-4)


def test_four_lines_of_python_use_the_saved_model(page):
    code = re.findall(r"<pre><code>(.*?)</code></pre>", page, flags=re.DOTALL)
    (found,) = (part for part in code if "lupi.load" in part)
    lines = found.replace("&#39;", "'").replace("&#34;", '"').splitlines()
    assert len(lines) == 4
    ast.parse("\n".join(lines))
    assert "lupi.load('out/model.skops')" in lines[1]


def test_the_page_says_how_it_was_made_and_how_to_make_it_again(text):
    assert "2026-11-15 21:00:00 UTC" in text
    assert "lupi 0.1, numpy 2.0" in text
    assert "Seed 0" in text
    assert "lupi compare patients.csv --seed 0" in text
    assert "lupi compare --from out/results.json --out out-again" in text


def test_the_charts_are_the_displays_with_the_colors_of_the_page(page, comparison):
    charts = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    # Scores for two widths and gains for two methods, and one learning curve.
    assert len(charts) == 2 * 3 + 1
    for chart in charts:
        assert "var(--with)" in chart
        assert not re.search(r"#[0-9a-f]{6}\b", chart, flags=re.IGNORECASE)
        assert "system-ui" in chart
        assert "DejaVu" not in chart
    names = re.findall(r'\bid="([^"]*)"', page)
    assert len(names) == len(set(names))
    labels = re.findall(r'aria-label="([^"]*)"', page)
    means = comparison.table.set_index(["method", "arm"])["score"]
    assert f"with X* {means['SVCPlus', 'with']:.3f}" in labels[0]


def test_a_comparison_read_from_a_file_has_the_same_page(page, comparison, tmp_path):
    comparison.to_json(tmp_path / "c.json")
    assert render(Comparison.from_json(tmp_path / "c.json")) == page


def test_a_page_of_one_method_that_is_helped(tmp_path):
    comparison = of_gains({"KnowledgeTransferClassifier": 0.05})
    comparison.settings["search"]["has_parameters"] = False
    path = comparison.to_html(tmp_path / "page.html")
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]
    page = path.read_text(encoding="utf-8")
    assert "Knowledge<wbr>Transfer<wbr>Classifier" in page
    text = Reader(page).text
    assert "helps: with it, KnowledgeTransferClassifier scores 0.70" in text
    trained = (
        "is KnowledgeTransferClassifier, trained on all 100 outcomes with X*, because"
    )
    assert trained in text
    assert "no parameters to search" in text
    assert "candidates for each arm" not in text
    assert "Holm" not in text


def test_a_page_without_evidence_names_the_model_that_was_saved():
    comparison = of_gains({"SVCPlus": 0.0})
    commands = {"SVCPlus": "lupi fit patients.csv --method svc-plus"}
    usage = Usage("patients.csv", "out/model.skops", commands)
    curves = {"SVCPlus": learning_curve("SVCPlus", tuned=False)}
    text = read(comparison, usage, curves)
    assert "There is no evidence that the privileged information" in text
    assert (
        "is SVCPlus without X*, trained on all 100 outcomes: there is no evidence"
        in text
    )
    assert "lupi fit patients.csv --method svc-plus" in text
    assert "keeps the parameters" not in text


def test_a_method_that_hurts_and_one_that_failed():
    # Shuffled X* loses as much.
    comparison = of_gains({"A": -0.02, "B": 0.0})
    comparison.folds.loc[comparison.folds["method"] == "B", "score"] = np.nan
    comparison.failures["B"] = "ValueError: needs two classes"
    reader = Reader(render_html(comparison))
    loses = "The method loses, with shuffled X* as well: with X*, A scores 0.6"
    assert reader.texts[1].startswith(loses)
    assert "hurts, with shuffled X* as well" in reader.text
    assert "ValueError: needs two classes" in reader.text


def test_nothing_to_gain_and_leaks_are_said():
    comparison = of_gains({"A": 0.0})
    folds = comparison.folds
    oracle = folds["arm"] == "oracle"
    without = folds.loc[folds["arm"] == "without", "score"].to_numpy()
    folds.loc[oracle, "score"] = without
    assert "nothing to gain" in Reader(notebook_html(comparison)).text
    leaking = of_gains({"A": 0.0})
    leaking.folds.loc[oracle, "score"] = 1.0
    assert "as columns that contain it do" in Reader(render_html(leaking)).text


def test_names_from_the_file_are_shown_and_never_run():
    comparison = of_gains(
        {SCRIPT: 0.05, '"><img src=x onerror=alert(1)>': 0.0},
        features=[SCRIPT, "a&b"],
        privileged=["</style><script>x</script>"],
        target="'onload='x",
    )
    comparison.failures[SCRIPT] = SCRIPT
    comparison.warnings.append({"method": SCRIPT, "message": SCRIPT, "count": 2})
    usage = Usage(SCRIPT, None, {SCRIPT: SCRIPT})
    reader = Reader(render_html(comparison, usage, {SCRIPT: learning_curve(SCRIPT)}))
    assert "script" not in reader.tags
    assert "img" not in reader.tags
    assert reader.text.count(SCRIPT) >= 6
    assert "a&b" in reader.text


def test_notebooks_show_the_verdict_and_escape_names():
    comparison = of_gains({SCRIPT: 0.05, "SVCPlus": 0.0})
    fragment = comparison._repr_html_()
    assert comparison.verdict.headline.split(SCRIPT)[0] in fragment
    assert "<script" not in fragment
    assert "SVCPlus" in fragment
    assert comparison.next_steps()[0] in Reader(fragment).text


def at_full_size(result, full):
    """Add a comparison at full size, as `Comparison.at_full_size` does."""
    full.settings["splits"]["instead_of"] = training_rows(result.settings["splits"])
    result.settings["full_size"] = full.to_dict()
    return result


def test_the_saved_model_has_the_score_of_its_own_size():
    small = {"kind": "few labels", "n_train": 60.0, "labelled": 60}
    full = of_gains({"SVCPlus": 0.0})
    result = at_full_size(of_gains({"SVCPlus": 0.05}, splits=small), full)
    said = read(result)
    without = full.table.set_index("arm").loc["without"]
    low, high = f"{without['low']:.3f}", f"{without['high']:.3f}"
    few = result.table.set_index("arm").at["without", "score"]
    assert (
        f"Its expected AUC is {without['score']:.3f} (95 % interval {low} to {high}), "
        "measured on 10 random splits with 180 known outcomes in training; models "
        f"trained on 60 outcomes, which the verdict is about, score {few:.3f}." in said
    )
    # Both sizes have the same words for their gain.
    assert "With 60 known outcomes, the privileged information helps" in said
    each = "180 of them in training in each split"
    assert f"With all 100 known outcomes ({each}) instead of 60, there is no" in said
    assert said.count("The gain, the smallest difference to without X*, shuffled") == 2
    assert "a leak" not in said


def test_both_sizes_have_their_baselines_and_the_method_of_the_second_is_explained():
    full = of_gains({"B": 0.0}, constant=0.7)
    small = {"n_train": 60.0}
    result = of_gains({"A": 0.0, "B": 0.01}, splits=small, constant=0.5)
    result.folds.loc[result.folds["method"] == "B", "score"] += 0.1
    for each, score in ((result, 0.4), (full, 0.8)):
        each.settings["outside"] = {"name": "Boosting", "score": score}
        each.settings["outside"] |= {"low": score - 0.05, "high": score + 0.05}
        each.settings["outside"] |= {"difference": 0.15}
        each.settings["outside"] |= {"difference_low": -0.1, "difference_high": 0.4}
    said = read(at_full_size(result, full))
    assert "(60 training rows), scores 0.400 (95 % interval 0.350 to 0.450)." in said
    assert "(180 training rows), scores 0.800 (95 % interval 0.750 to 0.850)." in said
    assert "0.800 on the same splits, a difference of +0.150 (95 % interval" in said
    assert "Of the 2 methods only B, the method of the verdict, which also has" in said
    assert "every row (60 training rows) scores 0.500" in said
    assert "every row (180 training rows) scores 0.700" in said


@pytest.mark.parametrize("several", [True, False])
def test_more_rows_that_are_worse_and_the_highest_score_are_named(several):
    names = ["A", "B"] if several else ["A"]
    full = of_gains(dict.fromkeys(names, 0.0), constant=0.5)
    few = {"n_train": 60.0}
    result = of_gains(dict.fromkeys(names, 0.0), splits=few, constant=0.5)
    result.folds["score"] += 0.1 if several else -0.1
    said = read(at_full_size(result, full))
    assert ("additional training rows do not improve them" in said) == several
    splits = result.settings["splits"]
    for name in ("train_size", "labelled"):
        splits |= {
            "kind": "time",
            "train_size": None,
            "labelled": None,
            name: 60,
        } | DAYS
        said = read(result)
        latest = name == "train_size"
        assert ("trained on 60 outcomes, the latest ones, which the" in said) == latest
    assert ("of the models without X* it has the highest score" in said) == several
    assert "compared again" not in said


def test_a_model_that_is_kept_without_x_star_because_that_hurts():
    result = of_scores({"A": {"without": np.linspace(0.6, 0.7, 10)}})
    result.folds.loc[result.folds["arm"] == "with", "score"] -= 0.1
    assert result.verdict.kind == "hurts"
    said = read(result)
    assert "A without X*, trained on all 100 outcomes: X* hurts." in said


def test_an_interval_of_all_values_is_not_printed():
    result = of_gains({"A": 0.0}, also={"accuracy": 0.5})
    result.folds["also"] = [
        {"accuracy": (float(split % 2), None)} for split in result.folds["split"]
    ]
    said = read(result)
    assert "Its accuracy is 0.500 (too few rows for an interval)" in said
    assert "class 0.500, too few rows for intervals (180 training rows)" in said
    known = (result.folds["arm"] == "oracle") | (result.folds["arm"] == "with")
    result = of_gains({"A": 0.0}, also={"accuracy": 0.5})
    result.folds["also"] = [
        {"accuracy": (0.6 + 0.002 * split if own else float(split % 2), None)}
        for split, own in zip(result.folds["split"], known, strict=True)
    ]
    said = read(result)
    assert "class 0.500, with 95 % intervals where there are enough rows" in said
    assert "without X* 0.500, with X* 0.609 (0.60" in said


def test_an_interval_that_is_cut_says_so():
    result = of_gains({"A": 0.0}, scoring="r2")
    assert "possible score" not in read(result)
    result = of_gains({"A": 0.0}, scoring="r2")
    result.folds["score"] += 0.5 * (-1.0) ** result.folds["split"]
    said = read(result)
    assert "to 1.000, cut at the largest possible score)" in said
    assert "Intervals are cut at the largest possible score, 1." in said


@pytest.mark.parametrize(
    ("constant", "sentence"),
    [
        (0.4, None),
        (0.0, "is +0.000 (95 % interval −"),
        (0.001, "is −0.001 (95 % interval −"),
    ],
)
def test_a_saved_model_that_a_baseline_reaches_is_named(constant, sentence):
    result = of_gains({"SVCPlus": 0.0})
    score = float(result.folds.query("arm == 'without'")["score"].mean())
    ends = ("low", "high", "difference", "difference_low", "difference_high")
    outside = {"name": "Boosting", **dict.fromkeys(ends, np.nan)}
    if sentence is None:
        settings = {"constant": constant, "outside": outside | {"score": score - 0.1}}
    else:
        constant += score
        settings = {"constant": constant, "outside": outside | {"score": score + 0.1}}
    result.settings.update(settings | {"constants": [constant] * 10})
    said = read(result)
    better = f"Boosting of scikit-learn scores {score + 0.1:.3f} on the same splits"
    assert (better in said) == (sentence is not None)
    shown = "the model is not shown to be better than a constant prediction." in said
    assert shown == (sentence is not None)
    if sentence is not None:
        than = "minus that of predicting the most frequent class for every row"
        assert f"{than} ({constant:.3f}) {sentence}" in said


@pytest.mark.parametrize(
    ("kind", "design"),
    [
        ("folds", "folds"),
        ("small training sets", "`train_size="),
        ("few labels", "`labelled="),
        ("time", "`time`"),
    ],
)
def test_the_share_of_false_positives_is_that_of_the_guide(kind, design):
    guide = Path(__file__).parents[2] / "docs/guide/evaluation.md"
    lines = guide.read_text(encoding="utf-8").splitlines()
    rows = [line.split("|")[4] for line in lines if line.startswith(f"| {design}")]
    found = [float(share) for row in rows for share in re.findall(r"[\d.]+", row)]
    ends = " to ".join(dict.fromkeys(f"{end:.1f}" for end in (min(found), max(found))))
    said = read(of_gains(splits={"kind": kind} | DAYS))
    assert f"{ends} % of such tests are significant on either side" in said
    # Two windows of time have another variance, which was not measured.
    said = read(of_gains(splits={"kind": kind, "n_splits": 2} | DAYS))
    assert ("Where the true difference is zero" in said) == (kind != "time")


def test_a_leak_that_is_found_at_full_size_is_named():
    full = of_gains({"SVCPlus": 0.0})
    full.folds.loc[full.folds["arm"] == "oracle", "score"] = 1.0
    result = at_full_size(of_gains({"SVCPlus": 0.05}), full)
    assert not result.verdict.leak
    assert "may contain the target itself (a leak)" in read(result)


def test_a_share_of_the_gap_is_shown_where_privileged_information_helps():
    result = of_gains()
    assert result.summary["gap_closed"].notna().all()
    rows = re.findall(r"<tr>.*?</tr>", notebook_html(result), flags=re.DOTALL)
    shown = {row: "%" in row or "none" in row for row in rows[1:]}
    assert list(shown.values()) == [False, True]
    assert "SVCPlus" in next(iter(shown))


def test_splits_that_are_left_out_are_named_with_the_means_of_all():
    result = of_gains({"SVCPlus": 0.05})
    without = result.folds["arm"] == "without"
    result.folds.loc[without & (result.folds["split"] == 3), "score"] = -3.0
    said = read(result)
    mean = result.folds.loc[without, "score"].mean()
    assert "† Split 4 is left out of all means, tests and baselines" in said
    assert f"of SVCPlus over all 10 splits are: without X* {mean:.3f}, with" in said
    assert "(without X* −3.000 in split 4)" in said
    # Arms have their usual order.
    result.folds.loc[result.folds["split"] == 3, "score"] = -3.0
    constants = {"constants": [0.5] * 10}
    result = Comparison(result.folds, result.settings | constants)
    arms = ("without X*", "with X*", "shuffled X*", "X as X*")
    assert ", ".join(f"{arm} −3.000 in split 4" for arm in arms[:3]) in read(result)
    assert "4†" in said
    assert re.search(r"\d of these 9 splits are better with X\*", said)


def test_splits_that_are_left_out_at_full_size_are_named_too():
    full = of_gains({"SVCPlus": 0.05})
    shuffled = full.folds["arm"] == "shuffled"
    full.folds.loc[shuffled & (full.folds["split"] == 1), "score"] = -2.0
    result = at_full_size(of_gains({"SVCPlus": 0.05}, splits={"n_train": 60.0}), full)
    said = read(result)
    assert said.count("† Split 2 is left out") == 1
    assert "baselines (180 training rows)" in said
    assert "(shuffled X* −2.000 in split 2)" in said


def test_a_baseline_that_may_be_no_better_than_a_constant_is_called_so():
    outside = {"name": "Boosting", "score": 0.45, "low": 0.3, "high": 0.6}
    # Differences to the kept model.
    outside |= dict.fromkeys(("difference", "difference_low", "difference_high"), -0.1)
    outside |= {"over_constant": -0.05}
    interval = "(95 % interval 0.300 to 0.600)"
    words = "a constant prediction: the difference is −0.050 (95 % interval −0.200 to"
    ends = {(-0.2, 0.1): "not shown to be better than", (-0.2, -0.01): "worse than"}
    for low, high in (*ends, (0.01, 0.1)):
        own = outside | {"over_constant_low": low, "over_constant_high": high}
        said = read(of_gains({"SVCPlus": 0.05}, outside=own, constant=0.5))
        assert interval in said
        for shown, what in ends.items():
            known = f"{interval}, {what} {words}" in said
            assert known == (shown == (low, high))


def test_the_model_without_privileged_information_is_named():
    models = {"SVCPlus": "a support vector machine"}
    result = of_gains({"SVCPlus": 0.05}, base_models=models)
    said = "the same model, trained without X* (a support vector machine)"
    assert said in read(result)


def test_the_kept_model_is_called_what_it_is():
    models = {"SVCPlus": "a support vector machine"}
    said = read(of_gains({"SVCPlus": 0.0}, base_models=models))
    named = "is a support vector machine (SVCPlus without X*), trained on all 100"
    assert named in said


def windows(overlap):
    scores = {"without": np.array([0.71, 0.72, 0.73, 0.74])}
    scores["with"] = scores["without"] + [0.01, 0.0, 0.01, 0.0]
    splits = {"kind": "time", "time": "day", "overlap": overlap}
    splits["windows"] = [[10 * start, 10 * start + 9] for start in range(1, 5)]
    constants = [-0.00002, -0.1, -0.2, -0.3]
    known = {"task": "regression", "scoring": "r2", "constants": constants}
    return of_scores({"SVRPlus": scores}, splits=splits, **known)


def test_the_scores_of_few_windows_are_in_a_table_that_is_open():
    result = windows(1.0)
    said = "All arms beat a constant prediction in all 4 windows; with so few windows,"
    assert said in result.verdict.sentence
    assert "0.71" not in result.verdict.sentence
    text = read(result)
    assert "1: 10 to 19 0.710 0.720 0.710 0.710 0.710 0.000 2: 20 to 29" in text
    with undrawn():
        assert "<details open>" in render(result)
        assert "<details open>" not in render(of_gains({"SVCPlus": 0.05}))


def test_windows_that_all_beat_a_constant_are_no_contradiction_to_its_interval():
    result = windows(1.0)
    constants = [0.7, -0.5, 0.7, -0.5]
    result.settings |= {"constants": constants, "constant": np.mean(constants)}
    sentence = result.verdict.sentence
    assert "the model is not shown to be better than a constant prediction. All" in (
        sentence
    )
    said = "in all 4 windows, although intervals of these differences reach below zero;"
    assert said in sentence


def test_the_window_that_changes_the_gain_names_the_control_if_it_is_another():
    result = windows(1.0)
    folds = result.folds
    outlying = (folds["arm"] == "without") & (folds["split"] == 1)
    folds.loc[outlying, "score"] += 0.4
    folds.loc[folds["arm"] == "shuffled", "score"] += 0.05
    assert result.summary["control"][0] == "without"
    own = folds[folds["split"] != 1].groupby("arm")["score"].mean()
    gain = f"{own['with'] - own['shuffled']:+.3f}".replace("-", "−")
    said = f"Without the window 20 to 29 the gain is {gain} against shuffled X*."
    assert said in result.verdict.sentence


def test_the_test_over_windows_is_called_what_it_is():
    for overlap, ordinary in ((1.0, False), (0.0, True)):
        said = read(windows(overlap))
        assert ("by the ordinary t-test over the windows" in said) == ordinary
        assert ("Nadeau and Bengio" in said) != ordinary
        assert ("corrected for the overlap" in said) != ordinary


def test_every_size_has_the_words_of_its_own_test():
    """Windows of 60 rows have blocks, or none in common; those of all rows overlap."""
    few = windows(0.0)
    few.settings["splits"] |= {"n_train": 60.0, "train_size": 60}
    said = read(at_full_size(few, windows(1.0)))
    assert (
        "intervals, from the scores of the windows with 60 training rows and corrected "
        "for the overlap of the splits with 90 training rows; higher is better." in said
    )
    assert "(they share no training rows) with 60 training rows and a t-test" in (said)
    assert "3.1 to 5.5 % of such tests are significant" in said
    labels = {"kind": "few labels", "n_train": 60.0, "labelled": 60}
    few = of_gains({"SVCPlus": 0.0}, splits=labels)
    said = read(at_full_size(few, of_gains({"SVCPlus": 0.0})))
    shares = "3.0 to 4.0 % with 60 training rows and 5.0 % with 180 training rows of"
    assert shares in said
    assert "intervals, corrected for the overlap of the splits; higher" in said


def test_the_mean_of_the_past_is_not_that_of_the_future():
    settings = {"task": "regression", "scoring": "r2", "constant": -0.755}
    result = of_gains({"SVRPlus": 0.05}, **settings)
    random = read(result)
    assert "test row (180 training rows) scores −0.755." in random
    result = of_gains({"SVRPlus": 0.05}, **settings, splits={"kind": "time"} | DAYS)
    said = "rows) scores −0.755: R² is measured from the mean of the later"
    assert said in read(result)


@pytest.mark.parametrize("low", [-0.1, 0.1])
def test_a_baseline_that_is_clearly_better_is_named_as_such(low):
    scores = {"A": {"without": np.full(5, 0.3)}}
    outside = {"name": "Boosting", "score": 0.5, "low": 0.4, "high": 0.6}
    outside |= {"scores": [0.2, 0.5, 0.6, 0.6, 0.6], "difference": 0.2}
    outside |= {"difference_low": low, "difference_high": 0.3}
    for end in ("", "_low", "_high"):
        outside[f"over_without{end}"] = outside[f"difference{end}"]
    result = of_scores(scores, outside=outside, task="regression", scoring="r2")
    said = read(result)
    by_split = "0.200, 0.500, 0.600, 0.600, 0.600, in 4 of 5 above without X*"
    assert f"; by split: {by_split}" in said
    better = (
        "It is better than A without X*, by +0.200 (95 % interval +0.100 to +0.300)"
    )
    assert (better in said) == (low > 0)
    step = "Boosting makes more of X than A does: try methods='ipl-regressor'"
    assert (step in " ".join(result.next_steps())) == (low > 0)
    # The table of all splits has its scores, the last of each line.
    assert "oracle external baseline 1 " in said


@pytest.mark.parametrize("lowest", [-0.4, -0.6])
def test_splits_in_which_the_external_baseline_fails_are_named(lowest):
    """An error half as large again as that of predicting the mean is a failure."""
    outside = {"name": "Boosting", "score": 0.1, "low": -0.2, "high": 0.4}
    outside |= {"scores": [0.2, lowest, 0.3, 0.3, 0.3], "difference": -0.2}
    outside |= {"difference_low": -0.5, "difference_high": 0.1}
    settings = {"task": "regression", "scoring": "r2", "constants": [0.0] * 5}
    scores = {"A": {"without": np.full(5, 0.3)}}
    said = read(of_scores(scores, outside=outside, **settings))
    fails = "; far below a constant prediction in 1 of 5 (−0.600); by split: 0.200"
    assert (fails in said) == (lowest < -0.5)


def test_rows_without_an_outcome_are_compared_and_not_called_random():
    labels = {"n_labelled": 100, "n_unlabelled": 50, "n_train_unlabelled": 50.0}
    said = read(of_gains(labels=labels | {"auc": 0.6}))
    assert "by X and X* with an AUC of 0.60 (0.5: no difference found)" in said
    assert "at random" not in said


def test_names_of_columns_with_commas_are_in_quotes():
    said = read(of_gains(features=["size, cm", "age"], privileged=["a, b"]))
    assert "2: “size, cm” and age" in said
    assert "1: “a, b”" in said


def reliable(weight, shift=0.0):
    """Return a comparison whose tenths of probabilities have these weights."""
    result = of_gains({"SVCPlus": 0.05}, classes=["no", "yes"])
    weight = np.asarray(weight, dtype=float)
    chance = (np.arange(10) + 0.5) / 10
    bins = np.column_stack([weight, weight * chance, weight * (chance + shift)])
    arms = result.folds["arm"].isin(["without", "with"])
    tables = [bins.tolist() if each else None for each in arms]
    result.folds["reliability"] = pd.Series(tables, dtype=object)
    result.settings["splits"]["n_tested"] = 1000
    return result


def test_tenths_of_few_rows_are_not_drawn_and_all_are_listed():
    # Ten splits; of 1000 rows that are tested, 2 % are 20.
    html = render_html(reliable([900, 80, 18, 2, 0, 0, 0, 0, 0, 0], shift=0.01))
    label = re.search(r'aria-label="(Reliability[^"]*)"', html).group(1)
    assert "with X*, predicted 0.15: observed 0.16" in label
    assert "predicted 0.25" not in label
    said = " ".join(re.sub(r"<[^>]+>", " ", html).split())
    assert "tenths with fewer than 20 different rows are left out († below); a" in said
    assert "those of the comparison (180 training rows), not the saved one" in said
    assert "with X* 0.1 to 0.2 0.150 0.160 800" in said
    assert "with X*† 0.3 to 0.4 0.350 0.360 20" in said
    assert "0.4 to 0.5" not in said
    # A split that is left out of all means is left out of the curve.
    result = reliable([900, 80, 18, 2, 0, 0, 0, 0, 0, 0], shift=0.01)
    result.folds.loc[result.folds["split"] == 3, "score"] = -3.0
    constants = {"constants": [0.5] * 10}
    result = Comparison(result.folds, result.settings | constants)
    assert "with X* 0.1 to 0.2 0.150 0.160 720" in read(result)


def test_probabilities_that_are_too_high_or_too_low_are_named():
    # All probabilities are 0.05 or 0.95; the share of yes is that plus a shift.
    rare = 1000 * np.eye(10)[0]
    off = "are not calibrated: their mean on test rows is 0.050, the observed share"
    for weight, shift, found in (
        (rare, -0.04, f"of class yes of SVCPlus with X* {off} 0.010; use them to rank"),
        (rare[::-1], 0.04, f"of class no of SVCPlus without X* {off} 0.010"),
        (rare, 0.04, f"{off} 0.090"),
    ):
        assert found in read(reliable(weight, shift))
    # Less than a fifth of the share, or less than three standard errors of few rows.
    assert "not calibrated" not in read(reliable(300 * np.eye(10)[2:5].sum(0), 0.05))
    few = reliable(rare, -0.04)
    few.settings["splits"]["n_tested"] = 100
    assert "not calibrated" not in read(few)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1, 1, 1, 1, 1, 1, 2, 2, 3, 4], "1 (6×), 2 (2×), 3 (1×), 4 (1×)"),
        ([1, 2, 3, 4, 5, 1, 2, 3, 4, 5], "1 (2×), 2 (2×), 3 (2×), 4 (2×), 5 (2×)"),
        (range(10), "0 (1×), 1 (1×), 2 (1×), 3 (1×), 6 other values (6×)"),
    ],
)
def test_the_numbers_of_chosen_parameters_add_up(values, said):
    result = of_gains({"SVCPlus": 0.05})
    chosen = result.folds["arm"] == "with"
    params = pd.Series([{}] * len(chosen), index=chosen.index, dtype=object)
    params[chosen] = [{"C": value} for value in values]
    result.folds["params"] = params
    text = read(result)
    assert f"value with X* (number of the 10 splits) C {said} Time" in text


def test_the_table_has_the_constant_prediction():
    text = read(of_gains({"SVCPlus": 0.05}, constant=0.5))
    assert "constant prediction (180 training rows) 0.500" in text


def test_a_learning_curve_ends_above_scores_of_very_few_rows():
    curve = learning_curve("SVCPlus")
    page = render_html(of_gains({"SVCPlus": 0.05}), Usage(), {"SVCPlus": curve})
    assert "↓" not in page
    curve.scores["without"][0] -= 1.5
    curve.group_scores["without"][0] -= 1.5
    page = render_html(of_gains({"SVCPlus": 0.05}), Usage(), {"SVCPlus": curve})
    assert "↓ −0.900" in page
    assert "means that it leaves out are written at its edge" in page
    # No number of the axis is as low, and what is below it is not drawn.
    ticks = re.findall(r">(−?[\d.]+)</text>", page)
    assert not [tick for tick in ticks if tick.startswith("−0.9")]
    clips = set(re.findall(r"url\(#([^)]+)\)", page))
    assert clips
    assert clips <= set(re.findall(r'id="([^"]+)"', page))
