"""The numerical part of hedged distillation; see `lupi.transfer._hedged`.

- `rows`: the training rows, what is predicted, and folds that depend on content
- `learners`: which teacher and student is fitted on which folds, from sums or from rows
- `ridge`: the default teacher and student
- `hedge`: all candidates, their weights on the simplex, and calibrated probabilities
"""
