"""Data with privileged information: shipped tables, generators and readers."""

from lupi.datasets._generators import (
    make_biased_hiring,
    make_mediator,
    make_noisy_labels,
    make_plane,
    make_similarity_teacher,
    make_slack_teacher,
    make_useless,
)
from lupi.datasets._loaders import (
    load_actg175,
    load_breast_cancer_privileged,
    load_digits_lowres,
    load_german_credit,
    load_pima,
    read_mnist_plus,
    read_techtc,
)
from lupi.datasets._tables import list_tables, load_table

__all__ = [
    "list_tables",
    "load_actg175",
    "load_breast_cancer_privileged",
    "load_digits_lowres",
    "load_german_credit",
    "load_pima",
    "load_table",
    "make_biased_hiring",
    "make_mediator",
    "make_noisy_labels",
    "make_plane",
    "make_similarity_teacher",
    "make_slack_teacher",
    "make_useless",
    "read_mnist_plus",
    "read_techtc",
]
