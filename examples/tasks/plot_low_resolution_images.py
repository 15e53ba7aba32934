"""
Low-resolution images, with full resolution as X*
=================================================

Predictions are made from images of a cheap camera, and the training images were taken
with a better one. X is an image of 4 × 4 pixels, X* the same image at 8 × 8. Do the
better images improve a model of the poor ones?
"""

# %%
# The images
# ----------
import matplotlib.pyplot as plt

from lupi import GeneralizedDistillationClassifier, SVCPlus
from lupi.datasets import load_digits_lowres
from lupi.evaluation import compare

digits = load_digits_lowres(digits=(5, 8), size=4)
figure, grid = plt.subplots(2, 8, figsize=(9, 2.8), layout="constrained")
for column in range(8):
    for row, (images, size) in enumerate(((digits.data, 4), (digits.privileged, 8))):
        grid[row, column].imshow(images[column].reshape(size, size), cmap="gray_r")
        grid[row, column].set(xticks=[], yticks=[])
grid[0, 0].set_ylabel("X")
grid[1, 0].set_ylabel("X*")

# %%
# Does it help?
# -------------
# Trained on 30 images, tested on the other 326.
comparison = compare(
    digits.data,
    digits.target,
    digits.privileged,
    methods=[GeneralizedDistillationClassifier(), SVCPlus()],
    train_size=30,
    cv=12,
    n_candidates=6,
    random_state=0,
)
print(comparison.verdict)
print(comparison.table.round(3).to_string(index=False))
comparison.plot()
plt.show()

# %%
# The possible gain is small here. Distillation is better than the same linear student
# alone, but about as good with X in the place of X*: the gain does not come from the
# full images. An SVM of X alone is better still, and the full images add nothing to it.
# Always compare with the best model without X* as well.
