"""The numerical part of hedged distillation; see `lupi.transfer._hedged`.

- `plan`: which teacher and student is fitted on which folds
- `sums`: these fits for ridge regression, from sums of products
- `learners`: these fits for any estimators
- `outputs`: the predicted quantity, a number or class probabilities
- `ridge`, `filling`: ridge regression by generalized cross-validation, missing cells
- `folds`: folds that depend on the content of the rows, and keep groups together
- `hedge`, `weights`: all candidates, and their weights on the simplex, with a prior
- `calibration`: calibrated probabilities
"""
