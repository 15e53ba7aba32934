"""
Thesis, figure 6.2: the confusion matrix
========================================

O. Thomas, *Learning Using Privileged Information: A Unified Approach* (University of
Sussex, 2017), section 6.3.1 and figure 6.2, which defines accuracy and F-score by the
confusion matrix.

**Statement of the source.** Accuracy is affected when the classes are not of equal
size; the F-score is the more robust of the two, if less intuitive.

**Result.** The two formulas are scikit-learn's. The claim holds for a classifier
that always answers the larger class: its accuracy is the share of that class (0.66
here), its F-score for the other one is 0. It does not hold in general. A test that is
right for 80 % of either class has accuracy 0.80 whatever their sizes, while its F-score
runs from 0.29 at one positive row in twenty to 0.88 at nine in ten. And the F-score
depends on which class is called positive: 0.56 for diabetes, 0.77 for its absence, of
the same predictions. Report both, as the source does.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import ConfusionMatrixDisplay, accuracy_score, f1_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lupi import SVCPlus
from lupi.compose import TransformedPrivileged
from lupi.datasets import load_pima

# %%
# A confusion matrix
# ------------------
# Diabetes among 300 women, predicted from what is known at once; SVM+ is trained with
# the results of the glucose test as X*.
pima = load_pima()
rows = np.random.default_rng(0).permutation(len(pima.target))[:300]
X, P, y = pima.data[rows], pima.privileged[rows], pima.target[rows]
model = make_pipeline(
    StandardScaler(),
    TransformedPrivileged(SVCPlus(privileged_reg=1.0), StandardScaler()),
)
predicted = cross_val_predict(
    model, X, y, cv=5, params={"transformedprivileged__privileged": P}
)
_, ax = plt.subplots(figsize=(4.6, 3.8), layout="constrained")
display = ConfusionMatrixDisplay.from_predictions(
    y, predicted, display_labels=pima.target_names, cmap="Blues", colorbar=False, ax=ax
)
ax.set_title("Pima, SVM+", loc="left", fontweight="bold")

(tn, fp), (fn, tp) = display.confusion_matrix
accuracy = (tp + tn) / (tp + fp + fn + tn)
precision, recall = tp / (tp + fp), tp / (tp + fn)
f_score = 2 * precision * recall / (precision + recall)
print(f"accuracy {accuracy:.3f}, scikit-learn's {accuracy_score(y, predicted):.3f}")
print(f"F-score  {f_score:.3f}, scikit-learn's {f1_score(y, predicted):.3f}")
print(
    f"F-score with the other class positive {f1_score(y, predicted, pos_label=0):.3f}"
)
print(f"always 'no diabetes': accuracy {np.mean(y == 0):.3f}, F-score 0")

# %%
# The same classifier, other class sizes
# --------------------------------------
# Right for 80 % of each class, as the share of positive rows moves.
share = np.linspace(0.02, 0.98, 97)
tp, fn, fp = 0.8 * share, 0.2 * share, 0.2 * (1 - share)
f_curve = 2 * tp / (2 * tp + fp + fn)
for wanted in (0.05, 0.5, 0.9):
    print(
        f"share {wanted:.2f}: accuracy 0.80, F {np.interp(wanted, share, f_curve):.2f}"
    )
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(
    share, np.full_like(share, 0.8), color="#0072B2", label="accuracy, 80 % of each"
)
ax.plot(share, f_curve, color="#E69F00", linestyle="--", label="F-score, 80 % of each")
ax.plot(
    share, 1 - share, color="#7A7A7A", linestyle=":", label="accuracy, never positive"
)
ax.set(xlabel="share of positive rows", ylabel="score", ylim=(0, 1.02))
ax.legend(frameon=False, loc="lower center")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
