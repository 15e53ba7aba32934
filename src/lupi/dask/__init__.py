"""Estimators for Dask collections, whose partitions stay on their workers.

Each estimator has the name and the parameters of the ordinary one, and ``client``. Its
``fit`` takes Dask arrays and data frames. What travels between processes are sums over
rows, of a size that depends on the number of columns alone. The fitted estimator
predicts lazily on Dask collections, and :meth:`to_local` returns the ordinary
estimator, to be saved and to predict anywhere.

:class:`JoblibBackend` spreads the fits of a search over a cluster.

Needs the extra ``dask``: ``pip install "lupi[dask]"``.
"""

from lupi._optional import require

require("dask", "lupi.dask")
require("distributed", "lupi.dask")

import lupi.dask._sizes  # noqa: E402, F401  (tells the scheduler)
from lupi.dask._boosting import IPLClassifier, IPLRegressor  # noqa: E402
from lupi.dask._hedged import (  # noqa: E402
    HedgedDistillationClassifier,
    HedgedDistillationRegressor,
)
from lupi.dask._joblib import JoblibBackend  # noqa: E402
from lupi.dask._linear import (  # noqa: E402
    LinearSVCDeltaPlus,
    LinearSVCPlus,
    LinearSVRPlus,
)

__all__ = [
    "HedgedDistillationClassifier",
    "HedgedDistillationRegressor",
    "IPLClassifier",
    "IPLRegressor",
    "JoblibBackend",
    "LinearSVCDeltaPlus",
    "LinearSVCPlus",
    "LinearSVRPlus",
]
