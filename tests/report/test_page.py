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


def table_of(comparison):
    """Return the cells with content of the table of scores, a list for every line."""
    with undrawn():
        page = render(comparison)
    table = page.split('<table class="stack">')[1].split("</table>")[0]
    _, *lines = table.replace("<wbr>", "").split("<tr>")
    return [re.findall(r"<t[dh][^>]*>([^<]+)<", line) for line in lines[1:]]


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
    assert "external baseline 0.612" in text
    boosting = "HistGradientBoostingClassifier of scikit-learn with its defaults, on X"
    assert text.count(f"external baseline: {boosting}") == 1
    assert "corrected for the number of methods (Holm; intervals" in text


def test_every_method_has_parameters_splits_curve_timing_and_warnings(text):
    assert "Pasunuri et al. 2016" in text
    assert text.count("Split by split") == 2
    assert text.count("10 (7×), 1 (3×)") == 2
    assert text.count("Learning curve") == 1
    assert "keeps the parameters that were chosen with 180 rows" in text
    assert text.count("fits on all splits: 25 s") == 2
    assert text.count("The scores of all 10 splits") == 2
    assert text.count("Use the model The model saved as") == 1
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
    assert (
        f"Its expected AUC is {without['score']:.3f} (95 % interval {low} to {high})."
        in said
    )
    # Both sizes have the same words for their gain.
    assert "With 60 known outcomes, the privileged information helps" in said
    each = "180 of them in training in each split"
    assert f"With all 100 known outcomes ({each}) instead of 60, there is no" in said
    assert said.count("The gain is ") == 2
    assert "a leak" not in said


def test_both_sizes_have_their_baselines_and_the_method_of_the_second_is_explained():
    full = of_gains({"B": 0.0}, constant=0.7)
    small = {"n_train": 60.0}
    result = of_gains({"A": 0.0, "B": 0.01}, splits=small, constant=0.5)
    result.folds.loc[result.folds["method"] == "B", "score"] += 0.1
    for each, score in ((result, 0.4), (full, 0.8)):
        each.settings["outside"] = {"name": "Boosting", "score": score}
    expected = []
    for each, rows, names in ((result, 60, "AB"), (full, 180, "B")):
        means = each.folds.groupby(["method", "arm"])["score"].mean()
        expected.append([f"{rows} training rows"])
        expected += [[n, *(f"{means[n, arm]:.3f}" for arm in ARMS)] for n in names]
        expected.append(
            ["external baseline", f"{each.settings['outside']['score']:.3f}"]
        )
        expected.append(["constant prediction", f"{each.settings['constant']:.3f}"])
    at_full_size(result, full)
    assert [cells[: len(ARMS) + 1] for cells in table_of(result)] == expected
    said = read(result)
    assert "Of the 2 methods only B, the method of the verdict, which also has" in said


@pytest.mark.parametrize("several", [True, False])
def test_the_highest_score_is_named_among_several_models(several):
    gains = dict.fromkeys(["A", "B"] if several else ["A"], 0.0)
    few = of_gains(gains, splits={"n_train": 60.0, "labelled": 60})
    said = read(at_full_size(few, of_gains(gains)))
    assert ("of the models without X* it has the highest score" in said) == several
    assert "compared again" not in said


def test_a_model_that_is_kept_without_x_star_because_that_hurts():
    result = of_scores({"A": {"without": np.linspace(0.6, 0.7, 10)}})
    result.folds.loc[result.folds["arm"] == "with", "score"] -= 0.1
    assert result.verdict.kind == "hurts"
    said = read(result)
    assert "A without X*, trained on all 100 outcomes: X* hurts." in said


def test_other_scores_stand_below_the_method_of_the_verdict_and_baselines():
    names = ["accuracy", "average_precision of a", "average_precision of b"]
    also = dict(zip(names, (0.6, 0.1, 0.05), strict=True))
    random = {names[1]: 0.12, names[2]: 0.07}
    outside = {"name": "Boosting", "score": 0.7}
    own = ("0.610", "0.210", "0.220")
    outside |= dict(zip(names, map(float, own), strict=True))
    settings = {"also": also, "random": random, "second": {"class": "a", "others": []}}
    gains = {"A": 0.0, "B": 0.05}
    result = of_gains(gains, outside=outside, constant=0.5, **settings)
    rng = np.random.default_rng(0)
    scores = rng.uniform(0.2, 0.9, size=(len(result.folds), len(names)))
    result.folds["also"] = [
        {name: (score, None) for name, score in zip(names, line, strict=True)}
        for line in scores
    ]
    arms = [
        scores[(result.folds["method"] == "B") & (result.folds["arm"] == arm)].mean(0)
        for arm in ARMS
    ]
    of_method = [[f"{value:.3f}" for value in each] for each in np.transpose(arms)]
    precision = "– average precision of class"
    # Equal predictions have less than a random ranking.
    labels = ["– accuracy", *(f"{precision} {n}" for n in "ab")]
    chances = ["", " (random ranking: 0.120)", " (random ranking: 0.070)"]
    first, second, *others = table_of(result)
    assert [first[0], second[0]] == ["A", "B"]
    assert others == [
        *(
            [label + chance, *each]
            for label, chance, each in zip(labels, chances, of_method, strict=True)
        ),
        ["external baseline", "0.700"],
        *([label, value] for label, value in zip(labels, own, strict=True)),
        ["constant prediction", "0.500"],
        ["– accuracy", "0.600"],
    ]


def test_rare_classes_without_an_average_precision_are_named():
    second, none = {"class": "a", "others": ["c", "d"]}, "No average precision is shown"
    assert f"{none} for c and d: it is for the five" in read(of_gains(second=second))
    assert none not in read(of_gains(second=second | {"others": []}))


def test_an_interval_that_is_cut_says_so():
    result = of_gains({"A": 0.0}, scoring="r2")
    assert "possible score" not in read(result)
    result = of_gains({"A": 0.0}, scoring="r2")
    result.folds["score"] += 0.5 * (-1.0) ** result.folds["split"]
    said = read(result)
    assert "to 1.000)." in said
    assert "Intervals are cut at the largest possible score, 1." in said


@pytest.mark.parametrize(
    ("above", "how"),
    [
        (-0.2, ""),
        (-0.001, "not shown to be better than"),
        (0.002, "not better than"),
        (0.2, "worse than"),
    ],
)
def test_a_saved_model_that_a_constant_reaches_is_named(above, how):
    result = of_gains({"SVCPlus": 0.0})
    folds = result.folds
    constant = float(folds.loc[folds["arm"] == "without", "score"].mean()) + above
    result.settings.update({"constant": constant, "constants": [constant] * 10})
    said = read(result)
    predicting = "predicting the most frequent class of the training rows"
    for words in ("not shown to be better than", "not better than", "worse than"):
        assert (f"The model is {words} {predicting}." in said) == (words == how)
        note = f"{words.capitalize()} {predicting} ({constant:.3f}): without X*"
        assert (note in said) == (words == how)


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
    assert f"significant at 5 %, in each direction, is {ends} % (measured" in said
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


@pytest.mark.parametrize("lowest", [-3.0, 0.3])
def test_a_difference_of_all_splits_that_has_the_other_sign_is_named(lowest):
    result = of_gains({"SVCPlus": 0.05})
    low = (result.folds["arm"] == "with") & (result.folds["split"] == 3)
    result.folds.loc[low, "score"] = lowest
    assert result.left_out == [3]
    means = result.folds.groupby("arm")["score"].mean()
    turned = means["with"] < means["without"]
    assert turned == (lowest < 0)
    gain = min(means["with"] - means[arm] for arm in ("without", "shuffled", "self"))
    assert (f": the gain is then −{-gain:.3f}." in read(result)) == turned


def test_splits_that_are_left_out_at_full_size_are_named_too():
    full = of_gains({"SVCPlus": 0.05})
    shuffled = full.folds["arm"] == "shuffled"
    full.folds.loc[shuffled & (full.folds["split"] == 1), "score"] = -2.0
    result = at_full_size(of_gains({"SVCPlus": 0.05}, splits={"n_train": 60.0}), full)
    said = read(result)
    assert said.count("† Split 2 is left out") == 1
    assert "With 180 training rows: † Split 2 is left out" in said
    assert "(shuffled X* −2.000 in split 2)" in said


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
    text = read(result)
    scores = result.folds.pivot(index="split", columns="arm", values="score")
    each = [f"{gain:+.3f}" for gain in scores["with"] - scores["without"]]
    times = ["10 to 19", "20 to 29", "30 to 39", "40 to 49"]
    gains = ", ".join(
        f"{gain} ({time})" for gain, time in zip(each, times, strict=True)
    )
    assert f"Difference to without X* by window: {gains}." in text
    assert "1: 10 to 19 0.710 0.720 0.710 0.710 0.710 0.000 2: 20 to 29" in text
    with undrawn():
        assert "<details open>" in render(result)
        assert "<details open>" not in render(of_gains({"SVCPlus": 0.05}))


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
    assert "in each direction, is 3.1 to 5.7 %" in said
    labels = {"kind": "few labels", "n_train": 60.0, "labelled": 60}
    few = of_gains({"SVCPlus": 0.0}, splits=labels)
    said = read(at_full_size(few, of_gains({"SVCPlus": 0.0})))
    shares = "is 3.0 to 4.0 % with 60 training rows and 5.0 % with 180 training rows"
    assert shares in said
    assert "intervals, corrected for the overlap of the splits; higher" in said


def test_the_mean_of_the_past_is_not_that_of_the_future():
    settings = {"task": "regression", "scoring": "r2", "constant": -0.755}
    said = "R² is measured from the mean of the later rows"
    random = read(of_gains({"SVRPlus": 0.05}, **settings))
    assert "constant prediction −0.755" in random
    assert "constant prediction: the mean of the training rows" in random
    assert said not in random
    settings |= {"splits": {"kind": "time"} | DAYS}
    by_time = read(of_gains({"SVRPlus": 0.05}, **settings))
    assert "constant prediction: the mean of the earlier rows" in by_time
    assert said in by_time
    assert said not in read(of_gains({"SVRPlus": 0.05}, **settings | {"constant": 0.0}))


@pytest.mark.parametrize("low", [-0.1, 0.1])
def test_a_baseline_that_is_clearly_better_is_named_as_such(low):
    scores = {"A": {"without": np.full(5, 0.3)}}
    outside = {"name": "Boosting", "score": 0.5, "low": 0.4, "high": 0.6}
    outside |= {"scores": [0.2, 0.5, 0.6, 0.6, 0.6], "difference": 0.2}
    outside |= {"difference_low": low, "difference_high": 0.3}
    for end in ("", "_low", "_high"):
        outside[f"over_without{end}"] = outside[f"difference{end}"]
    outside["over_constant_low"] = 0.4
    result = of_scores(scores, outside=outside, task="regression", scoring="r2")
    said = read(result)
    better = "is better than A without X*, by +0.200 (95 % interval +0.100 to +0.300)"
    assert (better in said) == (low > 0)
    step = "Boosting makes more of X than A does: try methods='ipl-regressor'"
    assert (step in " ".join(result.next_steps())) == (low > 0)
    # The table of all splits has its scores, the last of each line.
    assert "oracle external baseline 1 " in said


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


def test_boosting_of_too_few_rows_is_called_constant():
    outside = {"name": "Boosting", "score": 0.5, "scores": [0.5] * 10}
    said = "Boosting makes a constant prediction: 180 rows are too few for its trees."
    for constant in (0.5, 0.4):
        text = read(of_gains({"SVCPlus": 0.05}, constant=constant, outside=outside))
        assert (said in text) == (constant == 0.5)


def test_the_table_has_the_constant_prediction():
    text = read(of_gains({"SVCPlus": 0.05}, constant=0.5))
    assert "constant prediction 0.500" in text
    assert "constant prediction: the most frequent class of the training rows" in text
    assert "constant prediction" not in read(of_gains({"SVCPlus": 0.05}))


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
