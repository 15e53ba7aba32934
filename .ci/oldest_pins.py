"""Print the lower bounds of pyproject.toml as pins, for ``make test-oldest``."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = project["optional-dependencies"]
wanted = project["dependencies"] + [
    requirement
    for extra in ("advice", "compare", "plot", "cli")
    for requirement in extras[extra]
    if not requirement.startswith("lupi[")
]
for requirement in wanted:
    name, bound = re.fullmatch(r"([\w-]+)>=([\w.]+)", requirement).groups()
    print(f"{name}=={bound}")
# Of the test packages: scikit-learn 1.8 reads no columns of newer ones.
print("polars<2")
