"""The page in a real browser: phone and desk, light and dark, paper."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess

import matplotlib.image
import pytest

from lupi.report import Usage, write_html
from tests.comparisons import learning_curve, of_gains
from tests.report.test_page import SCRIPT

pytestmark = pytest.mark.slow

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"),
    *("--no-first-run", "--disable-background-networking", "--hide-scrollbars"),
    *("--disable-component-update", "--disable-sync"),
]

# A page that holds the report in a frame of a phone's width and measures it there.
MEASURE = """<!DOCTYPE html><body><iframe id="frame" style="border:0" width="{width}"
height="4000" srcdoc="{page}"></iframe><pre id="answer"></pre><script>
document.getElementById("frame").onload = () => {{
  const inner = document.getElementById("frame").contentDocument;
  const size = (node) => parseFloat(inner.defaultView.getComputedStyle(node).fontSize);
  document.getElementById("answer").textContent = JSON.stringify({{
    scroll: inner.documentElement.scrollWidth,
    small: Math.min(...[...inner.querySelectorAll("p, td, dd, svg text")].map(size)),
    title: inner.title,
    scripts: inner.scripts.length,
    text: inner.body.innerText,
  }});
}};</script></body>"""


@pytest.fixture(scope="module")
def browser():
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.fail("These tests need Debian's chromium: apt-get install chromium")
    return found


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    comparison = of_gains(
        {"GeneralizedDistillationClassifier": 0.05, "SVCPlus": 0.0},
        features=("age", SCRIPT, "a_rather_long_name_of_a_column_" * 3),
    )
    name = "GeneralizedDistillationClassifier"
    curves = {name: learning_curve(name)}
    path = tmp_path_factory.mktemp("page") / "report.html"
    return write_html(comparison, path, Usage("patients.csv"), curves)


def run(browser, tmp_path, *arguments):
    return subprocess.run(
        [browser, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", *arguments],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def measured(browser, tmp_path, page, width):
    frame = tmp_path / "frame.html"
    content = html.escape(page.read_text(encoding="utf-8"), quote=True)
    frame.write_text(MEASURE.format(width=width, page=content), encoding="utf-8")
    dumped = run(
        *(browser, tmp_path, "--dump-dom", "--virtual-time-budget=3000"),
        *(f"--window-size={width + 40},4200", frame.as_uri()),
    )
    answer = re.search(r'<pre id="answer">(.*?)</pre>', dumped, flags=re.DOTALL)
    return json.loads(html.unescape(answer.group(1)))


@pytest.mark.parametrize("width", [360, 390, 768, 1280])
def test_nothing_sticks_out_and_text_stays_readable(browser, tmp_path, page, width):
    seen = measured(browser, tmp_path, page, width)
    assert seen["scroll"] <= width
    assert seen["small"] >= 12
    assert "The privileged information helps" in seen["text"]


def test_a_column_called_script_is_shown_and_not_run(browser, tmp_path, page):
    seen = measured(browser, tmp_path, page, 800)
    assert seen["scripts"] == 0
    assert seen["title"] == "Does the privileged information help? patients.csv"
    assert SCRIPT in seen["text"]


@pytest.mark.parametrize(("scheme", "bright"), [("light", True), ("dark", False)])
def test_light_and_dark(browser, tmp_path, page, scheme, bright):
    picture = tmp_path / f"{scheme}.png"
    run(
        *(browser, tmp_path, f"--screenshot={picture}", "--window-size=1000,1400"),
        f"--blink-settings=preferredColorScheme={int(bright)}",
        page.as_uri(),
    )
    pixels = matplotlib.image.imread(picture)[..., :3]
    assert (pixels.mean() > 0.5) == bright
    # Ink on paper, not an empty sheet.
    assert pixels.std() > 0.05


def test_it_prints_on_a_few_light_pages(browser, tmp_path, page):
    paper = tmp_path / "page.pdf"
    run(
        *(browser, tmp_path, f"--print-to-pdf={paper}", "--no-pdf-header-footer"),
        "--blink-settings=preferredColorScheme=0",
        page.as_uri(),
    )
    pages = len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes()))
    assert 2 <= pages <= 6
