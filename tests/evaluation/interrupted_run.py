"""A comparison slow enough to be interrupted, run as a process of its own.

Usage: python -m tests.evaluation.interrupted_run CHECKPOINT RESULT [SECONDS_PER_FIT]
"""

import os
import sys
import time

from lupi.datasets import make_mediator
from lupi.evaluation import compare
from tests.toys import TaughtClassifier


class Slow(TaughtClassifier):
    def fit(self, X, y, *, privileged=None, sample_weight=None):
        # In the environment, because attributes and globals are part of the study.
        time.sleep(float(os.environ["LUPI_TEST_SECONDS"]))
        return super().fit(X, y, privileged=privileged, sample_weight=sample_weight)


def run(checkpoint=None, seconds=0.0, **options):
    os.environ["LUPI_TEST_SECONDS"] = str(seconds)
    data = make_mediator(90, random_state=0)
    return compare(
        data.data,
        data.target,
        data.privileged,
        methods=[Slow()],
        scoring="accuracy",
        n_candidates=1,
        cv=4,
        checkpoint=checkpoint,
        **options,
    )


if __name__ == "__main__":
    # The class of this module, not that of __main__: its name is part of the study.
    from tests.evaluation import interrupted_run

    pause = float(sys.argv[3]) if len(sys.argv) > 3 else 0.0
    interrupted_run.run(sys.argv[1], pause).to_json(sys.argv[2])
