"""Data with privileged information: shipped tables, generators and readers."""

from lupi.datasets._shipped import (
    load_actg175,
    load_breast_cancer_privileged,
    load_digits_lowres,
    load_german_credit,
    load_pima,
)

__all__ = [
    "load_actg175",
    "load_breast_cancer_privileged",
    "load_digits_lowres",
    "load_german_credit",
    "load_pima",
]
