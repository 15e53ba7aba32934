"""What a host of the repository reads: workflows, forms, metadata, recipe and paper.

None of it runs here. Where a schema exists the files are checked by it, and what they
name (make targets, extras, files, dependencies, citations, numbers) has to exist.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest
import yaml

import lupi

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted(GITHUB.glob("workflows/*.yml"))
CONFIG = GITHUB / "ISSUE_TEMPLATE" / "config.yml"
FORMS = sorted({*CONFIG.parent.glob("*.yml")} - {CONFIG})
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
# Tags of major versions; the publishing action has a branch in their place.
ACTION = r"actions/[\w-]+@v\d+|pypa/gh-action-pypi-publish@release/v1"

pytestmark = pytest.mark.skipif(
    not GITHUB.exists(), reason="files of the repository alone, not of the sdist"
)


def text(path: Path | str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def errors_of(schema: str, *files: Path) -> int:
    """Return the exit status of check-jsonschema, whose schemas need no network."""
    main = pytest.importorskip("check_jsonschema").main
    arguments = ["--builtin-schema", schema, *map(str, files)]
    return main(arguments, standalone_mode=False)


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("vendor.github-workflows", WORKFLOWS),
        ("custom.github-workflows-require-timeout", WORKFLOWS),
        ("vendor.github-issue-forms", FORMS),
        ("vendor.github-issue-config", [CONFIG]),
        ("vendor.dependabot", [GITHUB / "dependabot.yml"]),
        ("vendor.citation-file-format", [ROOT / "CITATION.cff"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_files_follow_their_schemas(schema, files):
    assert files
    assert errors_of(schema, *files) == 0


def test_a_breach_of_a_schema_is_seen(tmp_path, capsys):
    broken = tmp_path / "broken.yml"
    broken.write_text(text(WORKFLOWS[0]).replace("runs-on:", "runs-in:"))
    assert errors_of("vendor.github-workflows", broken) == 1
    assert "runs-in" in capsys.readouterr().out


def steps() -> list[dict]:
    return [
        step
        for path in WORKFLOWS
        for job in yaml.safe_load(text(path))["jobs"].values()
        for step in job["steps"]
    ]


def test_what_the_workflows_call_exists():
    commands = "\n".join(step.get("run", "") for step in steps())
    targets = set(re.findall(r"^([\w-]+):", text("Makefile"), re.M))
    called = set(re.findall(r"\bmake ([\w-]+)", commands))
    assert {"lint", "docs", "test-oldest", "test-slow"} <= called <= targets
    extras = re.findall(r"\.\[(\w+)\]", commands)
    assert extras
    assert set(extras) <= set(PROJECT["optional-dependencies"])
    for place in re.findall(r"\b(?:tests|docs|src)/[\w./-]+", commands):
        assert (ROOT / place).exists(), place


def test_actions_are_official_and_have_versions():
    used = [step["uses"] for step in steps() if "uses" in step]
    assert used
    for action in used:
        assert re.fullmatch(ACTION, action), action


def test_the_supported_versions_of_python_are_tested():
    matrix = yaml.safe_load(text(".github/workflows/tests.yml"))["jobs"]["tests"][
        "strategy"
    ]["matrix"]
    classified = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert matrix["python"] == classified
    assert PROJECT["requires-python"] == f">={classified[0]}"
    others = {(leg["os"], leg["python"]) for leg in matrix["include"]}
    ends = (classified[0], classified[-1])
    systems = ("macos-latest", "windows-latest")
    assert others == {(system, python) for system in systems for python in ends}


def test_only_publishing_may_write():
    for path in WORKFLOWS:
        workflow = yaml.safe_load(text(path))
        assert workflow["permissions"] == {"contents": "read"}
        for name, job in workflow["jobs"].items():
            if "permissions" in job:
                assert name in {"deploy", "publish"}
                assert "environment" in job
                assert job["needs"] == "build"


def test_the_citation_is_of_this_version_and_date():
    citation = yaml.safe_load(text("CITATION.cff"))
    assert citation["version"] == lupi.__version__
    heading = f"## [{lupi.__version__}] - {citation['date-released']}\n"
    assert heading in text("CHANGELOG.md")
    assert [author["name"] for author in citation["authors"]] == [
        author["name"] for author in PROJECT["authors"]
    ]


def test_the_conda_recipe_has_the_dependencies_of_the_package():
    recipe = yaml.safe_load(text("conda/recipe.yaml"))
    context, package = recipe["context"], recipe["requirements"]
    assert context["version"] == lupi.__version__
    assert PROJECT["requires-python"] == f">={context['python_min']}"
    python, *run = package["run"]
    assert python == "python >=${{ python_min }}"
    assert sorted(line.replace(" ", "") for line in run) == sorted(
        PROJECT["dependencies"]
    ), "conda/recipe.yaml and the dependencies of pyproject.toml differ"
    build = tomllib.loads(text("pyproject.toml"))["build-system"]["requires"]
    assert {line.replace(" ", "") for line in package["host"]} >= set(build)
    ((name, target),) = PROJECT["scripts"].items()
    assert recipe["build"]["python"]["entry_points"] == [f"{name} = {target}"]
    assert recipe["about"]["summary"] == PROJECT["description"]
    assert recipe["about"]["license"] == PROJECT["license"]
    for entry in recipe["tests"]:
        for file in entry.get("files", {}).get("source", []):
            assert (ROOT / file).is_file()


def paper() -> tuple[dict, str]:
    """Return the head of the paper and its text, with single spaces."""
    _, head, body = text("paper/paper.md").split("---\n", 2)
    return yaml.safe_load(head), " ".join(body.split())


def entries(path: str) -> dict[str, str]:
    found = re.findall(r"^@\w+\{([^,]+),(.*?)^\}", text(path), re.M | re.S)
    return {key: content.strip() for key, content in found}


def test_the_citations_of_the_paper_are_in_its_bibliography():
    head, body = paper()
    ours = entries(f"paper/{head['bibliography']}")
    assert set(re.findall(r"(?<![\w`/])@([a-z]\w+)", body)) == set(ours)
    docs = entries("docs/references.bib")
    for key in ours.keys() & docs.keys():
        assert ours[key] == docs[key], f"{key} differs from docs/references.bib"


def test_the_paper_has_the_form_of_the_journal():
    head, body = paper()
    assert head["title"] == yaml.safe_load(text("CITATION.cff"))["title"]
    assert [author["name"] for author in head["authors"]] == [
        author["name"] for author in PROJECT["authors"]
    ]
    homes = {home["index"] for home in head["affiliations"]}
    assert all(author["affiliation"] in homes for author in head["authors"])
    for section in (
        "Summary",
        "Statement of need",
        "State of the field",
        "Software design",
        "Research impact statement",
    ):
        assert f"# {section} " in body
    assert 750 <= len(body.split()) <= 1750


def test_the_numbers_of_the_paper_are_those_of_the_evidence():
    # What is before the trial is written, and tested, by benchmarks/leaderboard.py.
    body = re.sub(
        r"rows alone,\s.*?(?=On the clinical trial)", "", paper()[1], flags=re.S
    )
    pages = ("docs/evidence.md", "docs/evidence-details.md", "README.md")
    shown = " ".join("".join(map(text, pages)).split())
    found = re.findall(r"[+−]?\d\.\d{3} (?:AUC|R²)|\d+ of \d+|[\d.]+ %|\d\.\d{3}", body)
    assert found
    for number in found:
        assert number in shown, f"{number} is not in docs/evidence.md or README.md"


def test_the_sdist_has_what_its_tests_need_and_nothing_else(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (built,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(built) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    pages = {path.name for path in ROOT.glob("*.md")}
    assert {name.partition("/")[0] for name in inside} == pages | {
        *("src", "tests", "examples", "benchmarks", "docs", ".ci", "conftest.py"),
        *("Makefile", "CITATION.cff", "LICENSE", "pyproject.toml", "PKG-INFO"),
        ".gitignore",  # hatchling always adds it
    }
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0:
        assert inside - set(listed.stdout.splitlines()) == {"PKG-INFO"}
