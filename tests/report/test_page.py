"""What stands on the page, and that it stands alone."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from lupi.evaluation._arms import ARMS
from lupi.report import Usage, render_html
from tests.report.made import CURVES, SCRIPT, curve, made_comparison


class Reader(HTMLParser):
    """Collects tags, attributes and the text a reader sees."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.links, self.texts = [], [], []
        self.hidden = 0
        # Places where a name may break are not seen.
        self.feed(page.replace("<wbr>", ""))

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

    @property
    def text(self):
        return " ".join(self.texts)


@pytest.fixture(scope="module")
def comparison():
    return made_comparison()


@pytest.fixture(scope="module")
def page(comparison):
    return render_html(comparison, Usage("patients.csv"), CURVES)


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


def test_scores_gains_and_tests_are_those_of_the_folds(page, comparison):
    text = Reader(page).text
    folds = comparison.folds
    for method in comparison.methods:
        own = folds[folds["method"] == method]
        mean = own.groupby("arm")["score"].mean()
        for arm in ARMS:
            assert f"{mean[arm]:.3f}" in text
        gain = f"{mean['with'] - mean['without']:+.3f}".replace("-", "−")
        assert gain in text


def test_facts_of_the_data_are_there(page):
    text = Reader(page).text
    assert "200, of which 10 have no privileged information" in text
    assert "2: age and weight" in text
    assert "1: cd4" in text
    assert "10 splits, about 180 training and 20 test rows" in text
    assert "12 candidates for each arm, method and split, chosen by 3-fold" in text


def test_a_method_without_parameters_is_not_said_to_be_searched():
    comparison = made_comparison()
    comparison.settings["search"]["has_parameters"] = False
    text = Reader(render_html(comparison)).text
    assert "no parameters to search" in text
    assert "candidates for each arm" not in text


def test_every_method_has_parameters_splits_curve_and_timing(page):
    text = Reader(page).text
    assert "Pasunuri et al. 2016" in text
    assert text.count("Split by split") == 2
    assert text.count("10 (7×), 1 (3×)") == 2
    assert text.count("Learning curve") == 1
    assert text.count("fits on all splits: 25 s") == 2
    assert text.count("The scores of all 10 splits") == 2
    assert text.count("Use the model") == 1


def test_every_score_of_every_split_is_on_the_page(page, comparison):
    for section in page.split('<section class="one">')[1:3]:
        cells = re.findall(r'<td class="number">([^<]*)</td>', section)
        method = next(name for name in comparison.methods if name in section)
        folds = comparison.folds[comparison.folds["method"] == method]
        expected = folds.pivot(index="split", columns="arm", values="score")
        expected = expected[list(ARMS)].to_numpy()
        np.testing.assert_allclose(np.array(cells, float), expected.ravel(), atol=6e-4)


@pytest.mark.parametrize("gain", [0.05, 0.0])
def test_the_page_says_which_model_was_saved(gain):
    comparison = made_comparison({"SVCPlus": gain})
    commands = {"SVCPlus": "lupi fit patients.csv --method svc-plus"}
    usage = Usage("patients.csv", "out/model.skops", commands)
    text = Reader(render_html(comparison, usage)).text
    if gain:
        assert "The model saved as out/model.skops is SVCPlus, trained with X*" in text
        assert "lupi fit" not in text
    else:
        assert "is SVCPlus without X*, because there is no evidence" in text
        assert "lupi fit patients.csv --method svc-plus" in text


def test_four_lines_of_python_use_the_model(comparison):
    page = render_html(comparison, Usage("t.csv", model="out/model.skops"))
    code = re.findall(r"<pre><code>(.*?)</code></pre>", page, flags=re.DOTALL)[-1]
    lines = code.replace("&#39;", "'").replace("&#34;", '"').splitlines()
    assert len(lines) == 4
    ast.parse("\n".join(lines))
    assert "lupi.load('out/model.skops')" in lines[1]


def test_the_page_says_how_it_was_made_and_how_to_make_it_again(comparison):
    comparison.settings["made"] = {
        "date": "2026-11-15T21:00:00+00:00",
        "versions": {"lupi": "0.1", "numpy": "2.0"},
        "command": "lupi compare patients.csv --seed 0",
    }
    text = Reader(render_html(comparison)).text
    assert "2026-11-15 21:00:00 UTC" in text
    assert "lupi 0.1, numpy 2.0" in text
    assert "Seed 0" in text
    assert "lupi compare patients.csv --seed 0" in text
    assert "lupi compare --from results.json" in text


def test_long_names_break_between_their_words():
    page = render_html(made_comparison({"KnowledgeTransferClassifier": 0.05}))
    assert "Knowledge<wbr>Transfer<wbr>Classifier" in page


def test_a_baseline_from_outside_stands_beside_the_arms(comparison):
    comparison.settings["outside"] = {
        "name": "HistGradientBoostingClassifier",
        "score": 0.612,
        "std_error": 0.01,
    }
    text = Reader(render_html(comparison)).text
    assert "HistGradientBoostingClassifier (external baseline) 0.612" in text
    assert "same splits: 0.612 ± 0.010." in text


def test_the_curve_says_whether_it_was_tuned_anew():
    page = Reader(render_html(made_comparison(), curves=CURVES)).text
    assert "keeps the parameters that were chosen with 100 rows" in page
    name = "GBPlusClassifier"
    fixed = {name: replace(curve(name), tuned=False)}
    assert "keeps the parameters" not in render_html(made_comparison(), curves=fixed)


def test_notebooks_show_the_verdict_and_escape_names():
    comparison = made_comparison({SCRIPT: 0.05, "SVCPlus": 0.0})
    fragment = comparison._repr_html_()
    assert comparison.verdict.headline.split(SCRIPT)[0] in fragment
    assert "<script" not in fragment
    assert "SVCPlus" in fragment
    assert comparison.next_steps()[0] in Reader(fragment).text


def test_holm_is_named_where_there_are_several_methods(page):
    assert "Holm" in page
    assert "Holm" not in render_html(made_comparison({"SVCPlus": 0.05}))


def test_names_from_the_file_are_shown_and_never_run():
    comparison = made_comparison(
        {SCRIPT: 0.05, '"><img src=x onerror=alert(1)>': 0.0},
        features=(SCRIPT, "a&b"),
        privileged=("</style><script>x</script>",),
        target="'onload='x",
    )
    comparison.failures[SCRIPT] = SCRIPT
    comparison.warnings.append({"method": SCRIPT, "message": SCRIPT, "count": 2})
    usage = Usage(SCRIPT, None, {SCRIPT: SCRIPT})
    page = render_html(comparison, usage, {SCRIPT: curve(SCRIPT)})
    reader = Reader(page)
    assert "script" not in reader.tags
    assert "img" not in reader.tags
    assert reader.text.count(SCRIPT) >= 6
    assert "a&b" in reader.text


@pytest.mark.parametrize(
    ("gains", "headline"),
    [
        ({"A": 0.05}, "The privileged information helps: with it, A scores 0.70"),
        ({"A": 0.0, "B": 0.0}, "There is no evidence that the privileged information"),
        ({"A": -0.05}, "The privileged information hurts: with it, A scores 0.600"),
    ],
)
def test_headlines(gains, headline):
    page = render_html(made_comparison(gains))
    assert Reader(page).texts[1].startswith(headline)


def test_nothing_to_gain_and_leaks_are_said():
    comparison = made_comparison({"A": 0.0})
    folds = comparison.folds
    oracle = folds["arm"] == "oracle"
    without = folds.loc[folds["arm"] == "without", "score"].to_numpy()
    folds.loc[oracle, "score"] = without
    assert "nothing to gain" in Reader(render_html(comparison)).texts[1]
    leaking = made_comparison({"A": 0.0})
    leaking.folds.loc[oracle, "score"] = 1.0
    assert "likely contains the target" in render_html(leaking)


def test_a_method_that_failed_is_named_with_its_reason():
    comparison = made_comparison({"A": 0.05, "B": 0.0})
    comparison.folds.loc[comparison.folds["method"] == "B", "score"] = np.nan
    comparison.failures["B"] = "ValueError: needs two classes"
    text = Reader(render_html(comparison)).text
    assert "ValueError: needs two classes" in text
    assert "helps: with it, A scores" in text


def test_warnings_stand_with_their_method_without_class_names():
    comparison = made_comparison()
    message = "ConvergenceWarning: did not converge"
    comparison.warnings.append({"method": "SVCPlus", "message": message, "count": 3})
    text = Reader(render_html(comparison)).text
    assert "did not converge (3 times)" in text
    assert "ConvergenceWarning" not in text


def test_a_comparison_writes_its_own_page(comparison, tmp_path):
    path = comparison.to_html(tmp_path / "page.html")
    assert "The privileged information helps" in path.read_text(encoding="utf-8")
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


def test_a_comparison_read_from_a_file_has_the_same_page(comparison, tmp_path):
    comparison.to_json(tmp_path / "c.json")
    stored = type(comparison).from_json(tmp_path / "c.json")
    assert render_html(stored) == render_html(comparison)


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
