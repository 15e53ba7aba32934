"""Write the pictures of the guide, each from the gallery script that shows it.

    python docs/guide/images/make_images.py

The gallery is the only place where they are drawn. Give names of scripts (without
``.py``) to renew some of them only.
"""

import runpy
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[2] / "examples"
# Each script, and a name for each of its figures in the order drawn.
PICTURES = {
    "inspection/plot_spaces": [
        "inspection-spaces-delta-plus",
        "inspection-spaces-svm-plus",
        "inspection-spaces-unified",
        "inspection-spaces-fair",
        "inspection-spaces-deviation",
        "inspection-spaces-projected",
    ],
    "inspection/plot_gain": ["inspection-gain", "inspection-gain-difference"],
    "inspection/plot_learning_curve": [
        "inspection-learning-curve",
        "inspection-learning-curve-difference",
    ],
    "boosting/plot_cca_quality": ["cca-quality"],
    "boosting/plot_boosting_trace": ["boosting-trace", "boosting-surface"],
    "advice/plot_online_error": ["advice-online-error"],
    "svm/plot_thesis_figure_1_1": ["thesis-1-1"],
    "svm/plot_thesis_figure_3_2": ["thesis-3-2"],
    "svm/plot_thesis_figure_3_3": ["thesis-3-3"],
    "svm/plot_thesis_figure_4_1": ["thesis-4-1"],
    "svm/plot_thesis_figure_4_2": ["thesis-4-2"],
    "svm/plot_thesis_figure_8_1": ["thesis-8-1"],
}


def main(wanted: list[str]) -> None:
    """Run the scripts, all or those wanted, and save their figures."""
    for script, names in PICTURES.items():
        if wanted and Path(script).name not in wanted:
            continue
        plt.close("all")
        path = EXAMPLES / f"{script}.py"
        sys.path.insert(0, str(path.parent))  # for what the scripts of a folder share
        runpy.run_path(str(path), run_name="__main__")
        for number, name in zip(plt.get_fignums(), names, strict=True):
            plt.figure(number).savefig(HERE / f"{name}.png", dpi=80)


if __name__ == "__main__":
    main(sys.argv[1:])
