"""The types a saved model may hold.

`lupi.load` builds objects of these types and of the ones skops trusts by itself
(scikit-learn's public estimators, numpy arrays, scipy's sparse matrices, plain Python
values). The types of lupi are those that its files declare, models by their
``__lupi_info__`` and what they are made of by `lupi._stored.stored`; so are models of
your own that were declared in the same way before the file is read. What a file asks
for never adds to the list. A declaration, or a line here, means that building such an
object from a stranger's attributes runs no code of the stranger's choosing: true for
plain containers of arrays and numbers, never true for a type whose ``__setstate__`` or
``__reduce__`` calls what it is given.
"""

from __future__ import annotations

from lupi._stored import STORED
from lupi.base._info import load_models

# Decision trees are arrays of child indices that scikit-learn follows unchecked;
# skops leaves them out for that reason. They are listed because `lupi._soundness`
# checks every index before a tree is used.
TREE_TYPES = ("sklearn.tree._tree.Tree",)

# What a fitted skrub.TableVectorizer holds: its own steps, and the named predicates
# by which it tells numbers, dates and categories apart; time zones of dates.
TABLE_TYPES = (
    "datetime.timedelta",
    "datetime.timezone",
    "numpy.dtype",
    "pandas.DatetimeTZDtype",
    "pandas.core.dtypes.dtypes.DatetimeTZDtype",
    "skrub._apply_to_cols.ApplyToCols",
    "skrub._apply_to_each_col.ApplyToEachCol",
    "skrub._check_input.CheckInputDataFrame",
    "skrub._clean_categories.CleanCategories",
    "skrub._clean_null_strings.CleanNullStrings",
    "skrub._dataframe._common.is_any_date",
    "skrub._dataframe._common.is_bool",
    "skrub._dataframe._common.is_categorical",
    "skrub._dataframe._common.is_duration",
    "skrub._dataframe._common.is_numeric",
    "skrub._dataframe._common.is_object",
    "skrub._dataframe._common.is_string",
    "skrub._datetime_encoder.DatetimeEncoder",
    "skrub._drop_uninformative.DropUninformative",
    "skrub._duration_to_float.DurationToFloat",
    "skrub._string_encoder.StringEncoder",
    "skrub._table_vectorizer.PassThrough",
    "skrub._table_vectorizer.ShortReprDict",
    "skrub._table_vectorizer.TableVectorizer",
    "skrub._table_vectorizer._created_by_predicate",
    "skrub._to_datetime.ToDatetime",
    "skrub._to_float.ToFloat",
    "skrub._to_str.ToStr",
    "skrub.selectors._base.All",
    "skrub.selectors._base.And",
    "skrub.selectors._base.Cols",
    "skrub.selectors._base.Filter",
    "skrub.selectors._base.Inv",
    "skrub.selectors._base.Or",
    "skrub.selectors._base.Sub",
    "skrub.selectors._selectors._cardinality_below",
    "zoneinfo.ZoneInfo",
)

# Sparse arrays are read by numpy without pickle; skops knows them by their base only.
SPARSE_TYPES = (
    "scipy.sparse._csc.csc_array",
    "scipy.sparse._csc.csc_matrix",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
)

# What a fitted search or calibration of scikit-learn remembers: how it split, and by
# which of scikit-learn's own scores it chose.
SEARCH_TYPES = (
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.metrics._classification.accuracy_score",
    "sklearn.metrics._classification.balanced_accuracy_score",
    "sklearn.metrics._classification.brier_score_loss",
    "sklearn.metrics._classification.f1_score",
    "sklearn.metrics._classification.jaccard_score",
    "sklearn.metrics._classification.log_loss",
    "sklearn.metrics._classification.matthews_corrcoef",
    "sklearn.metrics._classification.precision_score",
    "sklearn.metrics._classification.recall_score",
    "sklearn.metrics._ranking.average_precision_score",
    "sklearn.metrics._ranking.roc_auc_score",
    "sklearn.metrics._regression.explained_variance_score",
    "sklearn.metrics._regression.max_error",
    "sklearn.metrics._regression.mean_absolute_error",
    "sklearn.metrics._regression.mean_absolute_percentage_error",
    "sklearn.metrics._regression.mean_squared_error",
    "sklearn.metrics._regression.mean_squared_log_error",
    "sklearn.metrics._regression.median_absolute_error",
    "sklearn.metrics._regression.r2_score",
    "sklearn.metrics._regression.root_mean_squared_error",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.metrics._scorer._Scorer",
    "sklearn.model_selection._split.GroupKFold",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.LeaveOneGroupOut",
    "sklearn.model_selection._split.LeaveOneOut",
    "sklearn.model_selection._split.PredefinedSplit",
    "sklearn.model_selection._split.RepeatedKFold",
    "sklearn.model_selection._split.RepeatedStratifiedKFold",
    "sklearn.model_selection._split.ShuffleSplit",
    "sklearn.model_selection._split.StratifiedGroupKFold",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.model_selection._split.StratifiedShuffleSplit",
    "sklearn.model_selection._split.TimeSeriesSplit",
    "sklearn.utils._metadata_requests.MetadataRequest",
    "sklearn.utils._metadata_requests.MethodMetadataRequest",
)

FOREIGN_TYPES = TREE_TYPES + TABLE_TYPES + SPARSE_TYPES + SEARCH_TYPES


def trusted_types() -> frozenset[str]:
    """Return the names of all types that a file may hold.

    Returns
    -------
    frozenset of str
        Of lupi, of the models declared so far, and of other libraries.
    """
    load_models()
    return frozenset((*STORED, *FOREIGN_TYPES))
