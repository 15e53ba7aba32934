"""The order of the gallery: tasks as a reader meets them, other scripts by name."""

from __future__ import annotations

from sphinx_gallery.sorting import FileNameSortKey

TASKS = [
    "plot_medical_lab_values.py",
    "plot_unlabelled_censored_survival.py",
    "plot_fair_german_credit.py",
    "plot_school_exam.py",
    "plot_unlabelled_flights.py",
    "plot_low_resolution_images.py",
    "plot_fair_hiring.py",
    "plot_expert_rules_diabetes.py",
]


class TasksFirst(FileNameSortKey):
    """Sort the scripts of `TASKS` in their order, and the others after them."""

    def __call__(self, filename: str) -> str:
        """Return the key to sort by."""
        if filename in TASKS:
            return f"{TASKS.index(filename):02d}"
        return filename
