"""The numerics of hedged distillation; `lupi.transfer._hedged` tells the method.

- `plan`: which model learns what from whom, with which folds left out
- `sums`: that plan for ridge regression, from sums of products alone
- `learners`: that plan for any estimators
- `ridge`, `filling`: ridge regression by generalized cross-validation, missing cells
- `folds`: folds that follow the content of the rows, and keep groups together
- `weights`: weights of the candidates on the simplex, with a prior
- `calibration`: probabilities from the blend
"""
