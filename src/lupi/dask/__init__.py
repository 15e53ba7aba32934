"""Estimators for Dask collections, whose partitions stay on their workers.

Each estimator has the name and the parameters of the ordinary one, and ``client``. Its
``fit`` takes Dask arrays and data frames. Workers send sums over rows, whose size only
depends on the number of columns. The fitted estimator predicts lazily on Dask
collections; ``to_local()`` returns the ordinary estimator, which can be saved.

:class:`JoblibBackend` distributes the fits of a search over a cluster.

Needs the extra ``dask``: ``pip install "lupi[dask]"``.
"""

from lupi._optional import require

require("dask", "lupi.dask")
require("distributed", "lupi.dask")

from lupi.dask._cluster import JoblibBackend  # noqa: E402
from lupi.dask._estimators import (  # noqa: E402
    HedgedDistillationClassifier,
    HedgedDistillationRegressor,
    IPLClassifier,
    IPLRegressor,
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
