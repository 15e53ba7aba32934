"""German credit: as the threshold goes to zero, so does the disparity."""

import numpy as np
import pytest
from fairlearn.metrics import (
    demographic_parity_difference,
    demographic_parity_ratio,
)
from sklearn.preprocessing import StandardScaler

from lupi.datasets import load_german_credit
from lupi.svm import FairSVCDeltaPlus

THRESHOLDS = (1.0, 0.02, 0.01, 0.0)


@pytest.mark.parametrize("n", [400, pytest.param(1000, marks=pytest.mark.slow)])
def test_disparity_shrinks_with_the_threshold(n):
    """Young applicants (25 and below) against the others."""
    credit = load_german_credit()
    X = StandardScaler().fit_transform(credit.data)[:n]
    P = StandardScaler().fit_transform(credit.privileged)[:n]
    y = credit.target[:n]
    age = credit.privileged_feature_names.index("age")
    young = (credit.privileged[:n, age] <= 25).astype(float)
    differences, ratios = [], []
    for threshold in THRESHOLDS:
        model = FairSVCDeltaPlus(
            0.01,
            covariance_threshold=threshold,
            privileged_reg=0.01,
            kernel="linear",
            class_weight="balanced",
        ).fit(X, y, privileged=P, sensitive_features=young)
        decision = model.decision_function(X)
        assert abs(np.mean((young - young.mean()) * decision)) <= threshold + 1e-6
        predicted = model.predict(X)
        arguments = {"sensitive_features": young}
        differences.append(demographic_parity_difference(y, predicted, **arguments))
        # The p%-rule of the source, as a share.
        ratios.append(demographic_parity_ratio(y, predicted, **arguments))
        assert np.mean(predicted == y) > 0.7
    assert (np.diff(differences) < 0).all()
    assert (np.diff(ratios) > 0).all()
    assert differences[0] > 0.1
    assert differences[-1] < 0.05
    assert ratios[0] < 0.8
    assert ratios[-1] > 0.9


def test_predicting_needs_no_sensitive_features():
    credit = load_german_credit()
    X = StandardScaler().fit_transform(credit.data)[:150]
    model = FairSVCDeltaPlus(0.1).fit(
        X, credit.target[:150], sensitive_features=credit.privileged[:150]
    )
    assert model.predict(X).shape == (150,)
    assert model.n_features_in_ == X.shape[1]
