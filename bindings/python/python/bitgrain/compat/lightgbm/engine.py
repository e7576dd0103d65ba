"""LightGBM's ``train`` and ``cv``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from bitgrain.boosting.model import Model, load_model
from bitgrain.compat.lightgbm.booster import Booster, _Feval, _listed
from bitgrain.compat.lightgbm.callback import CallbackEnv, EarlyStopException, early_stopping, ordered
from bitgrain.compat.lightgbm.dataset import Dataset
from bitgrain.compat.lightgbm.parameters import canonical, translated
from bitgrain.errors import DTypeError, InputError

__all__ = ["CVBooster", "cv", "train"]

Folds = Iterable[tuple[Any, Any]] | Any

#: Arguments of LightGBM before version 4, and the callbacks that replaced them.
_OLD = {
    "early_stopping_rounds": "callbacks=[early_stopping(...)]",
    "verbose_eval": "callbacks=[log_evaluation(...)]",
    "evals_result": "callbacks=[record_evaluation(...)]",
    "learning_rates": "callbacks=[reset_parameter(learning_rate=...)]",
    "fobj": "params['objective']",
    "feature_name": "Dataset(feature_name=...)",
    "categorical_feature": "Dataset(categorical_feature=...)",
}


def _refused(given: Mapping[str, Any]) -> NoReturn:
    name = next(iter(given))
    raise DTypeError(f"unexpected argument {name!r}" + (f"; use {_OLD[name]}" if name in _OLD else ""))


def train(
    params: Mapping[str, Any],
    train_set: Dataset,
    num_boost_round: int = 100,
    valid_sets: Sequence[Dataset] | Dataset | None = None,
    valid_names: Sequence[str] | str | None = None,
    feval: Callable[..., Any] | Sequence[Callable[..., Any]] | None = None,
    init_model: Any = None,
    keep_training_booster: bool = False,
    callbacks: Sequence[Callable[[CallbackEnv], Any]] | None = None,
    **other: Any,
) -> Booster:
    """Train a model.

    Parameters
    ----------
    params : dict
        Parameters by LightGBM's names, among them ``objective``, which may be a function of predictions and a
        :class:`Dataset`, and ``metric``.
    train_set : Dataset
        Training data.
    num_boost_round : int
        Number of rounds, unless `params` has one.
    valid_sets : list of Dataset, optional
        Data to evaluate after each round; it may include `train_set`.
    valid_names : list of str, optional
        Names of `valid_sets`.
    feval : callable or list of callable, optional
        Functions of predictions and a :class:`Dataset` that return a name, a value and whether higher is better, or a
        list of such tuples.
    init_model : Booster, Model or path, optional
        Model to add trees to.
    keep_training_booster : bool
        Whether the result can be trained further with :meth:`Booster.update`. Otherwise it ends at the best round.
    callbacks : list of callable, optional
        Functions that are called with a :class:`CallbackEnv`.
    **other
        Rejected with the names of their replacements.

    Returns
    -------
    Booster
        Model with ``best_iteration`` and ``best_score``.

    """
    if other:
        _refused(other)
    if not isinstance(train_set, Dataset):
        raise DTypeError(f"train_set must be a Dataset of this module, not {type(train_set).__name__}")
    params, rounds = _rounds(params, num_boost_round)
    booster = Booster({**train_set.params, **params}, train_set)
    booster._base = _base(init_model)
    _watch(booster, train_set, valid_sets, valid_names)
    settings = booster._chosen()
    booster._watch_train = booster._watch_train or settings.watch_train
    called = [booster._train_data_name] if booster._watch_train else []
    if len({*called, *(name for name, _ in booster._valid)}) < len(called) + len(booster._valid):
        raise InputError("two datasets in valid_sets have the same name; pass different valid_names")
    datasets = [*([train_set] if booster._watch_train else []), *(data for _, data in booster._valid)]
    booster._feval = [_Feval(call, at, datasets, False) for at, call in enumerate(_listed(feval))]
    extra = []
    if settings.early_stopping is not None:
        first, verbose = settings.first_metric_only, settings.verbosity >= 0
        extra.append(early_stopping(settings.early_stopping, first, verbose, settings.min_delta))
    before, after = ordered(callbacks, extra)
    begin = booster._base.n_rounds if booster._base is not None else 0
    results: list[tuple[Any, ...]] = []
    best: list[tuple[Any, ...]] | None = None
    try:
        for index in range(begin, begin + rounds):
            for callback in before:
                callback(CallbackEnv(booster, booster.params, index, begin, begin + rounds, None))
            booster.update()
            results = [each for name in booster._order() for each in booster._results(name)]
            try:
                for callback in after:
                    callback(CallbackEnv(booster, booster.params, index, begin, begin + rounds, results))
            except EarlyStopException as stop:
                booster.best_iteration, best = stop.best_iteration + 1, stop.best_score
                break
    finally:
        if not keep_training_booster:
            booster._stop()
    if not keep_training_booster and booster.best_iteration > 0:
        booster._model = booster._cut(None, 0)
    for name, metric, value, *_ in results if best is None else best:
        booster.best_score.setdefault(name, {})[metric] = value
    return booster


def _rounds(params: Mapping[str, Any] | None, num_boost_round: int) -> tuple[dict[str, Any], int]:
    """Return a copy of the parameters without the number of rounds, and the number of rounds."""
    own = dict(params or {})
    given = canonical(own).get("n_estimators")
    rounds = num_boost_round if given is None else given
    if not isinstance(rounds, int | np.integer) or rounds <= 0:
        raise InputError(f"num_boost_round = {rounds!r}: it must be an integer of at least 1")
    return {name: value for name, value in own.items() if canonical({name: value}).keys() != {"n_estimators"}}, int(
        rounds
    )


def _base(init_model: Any) -> Model | None:
    if init_model is None:
        return None
    if isinstance(init_model, Booster):
        return init_model._cut(None, 0)
    return init_model if isinstance(init_model, Model) else load_model(init_model)


def _watch(booster: Booster, train_set: Dataset, valid_sets: Any, valid_names: Any) -> None:
    """Add the datasets to evaluate."""
    sets = [] if valid_sets is None else [valid_sets] if isinstance(valid_sets, Dataset) else list(valid_sets)
    names = [valid_names] if isinstance(valid_names, str) else valid_names
    if names is not None and len(names) != len(sets):
        raise InputError(f"{len(names)} valid_names for {len(sets)} valid_sets; pass one per dataset")
    for at, data in enumerate(sets):
        if data is train_set:
            booster._watch_train = True
            if names is not None:
                booster.set_train_data_name(names[at])
            continue
        booster.add_valid(data, f"valid_{at}" if names is None else names[at])


class CVBooster:
    """The models of all folds; a method called on it is called on each, and returns the list of results."""

    def __init__(self, boosters: Sequence[Booster] = ()) -> None:
        self.boosters = list(boosters)
        self.best_iteration = -1

    def __getattr__(self, name: str) -> Callable[..., list[Any]]:
        if name.startswith("__") or name == "boosters":
            raise AttributeError(name)

        def each(*args: Any, **kwargs: Any) -> list[Any]:
            return [getattr(booster, name)(*args, **kwargs) for booster in self.boosters]

        return each


def cv(
    params: Mapping[str, Any],
    train_set: Dataset,
    num_boost_round: int = 100,
    folds: Folds | None = None,
    nfold: int = 5,
    stratified: bool = True,
    shuffle: bool = True,
    metrics: str | Sequence[str] | None = None,
    feval: Callable[..., Any] | Sequence[Callable[..., Any]] | None = None,
    init_model: Any = None,
    fpreproc: Callable[..., Any] | None = None,
    seed: int = 0,
    callbacks: Sequence[Callable[[CallbackEnv], Any]] | None = None,
    eval_train_metric: bool = False,
    return_cvbooster: bool = False,
    **other: Any,
) -> dict[str, Any]:
    """Cross-validate: all folds train side by side, so that early stopping uses their mean.

    Parameters
    ----------
    params, train_set, num_boost_round, feval, callbacks
        See :func:`train`.
    folds : splitter or iterable of (train rows, test rows), optional
        Folds, by default `nfold` of them.
    nfold : int
        Number of folds.
    stratified, shuffle : bool
        Whether folds have equal shares of each label, and whether rows are shuffled.
    metrics : str or list of str, optional
        Metrics, instead of those in `params`.
    init_model : Booster, Model or path, optional
        Model to add trees to.
    fpreproc : callable, optional
        Function of training data, test data and parameters of a fold that returns them changed.
    seed : int
        Seed of the shuffle.
    eval_train_metric : bool
        Whether to evaluate the training rows as well.
    return_cvbooster : bool
        Whether the result has the models under ``"cvbooster"``.
    **other
        Rejected with the names of their replacements.

    Returns
    -------
    dict
        Mean and deviation of each metric after every round, such as ``"valid l2-mean"`` and ``"valid l2-stdv"``.

    """
    if other:
        _refused(other)
    params, rounds = _rounds(params, num_boost_round)
    if metrics is not None:
        params = {name: value for name, value in params.items() if canonical({name: value}).keys() != {"metric"}}
        params["metric"] = metrics
    settings = translated({**train_set.params, **params})
    base = _base(init_model)
    cvbooster = CVBooster()
    for number, (kept, held) in enumerate(_folds(train_set, params, folds, nfold, stratified, shuffle, seed)):
        learned, tested = train_set.subset(np.sort(kept)), train_set.subset(np.sort(held))
        own = dict(params)
        if fpreproc is not None:
            learned, tested, own = fpreproc(learned, tested, own)
        if learned.num_data() == 0 or tested.num_data() == 0:
            raise InputError(f"fold {number} (0-based) has no rows for training or testing")
        booster = Booster({**train_set.params, **own}, learned)
        booster._base, booster._watch_train = base, eval_train_metric
        booster.set_train_data_name("train").add_valid(tested, "valid")
        datasets = [*([learned] if eval_train_metric else []), tested]
        booster._feval = [_Feval(call, at, datasets, False) for at, call in enumerate(_listed(feval))]
        cvbooster.boosters.append(booster)
    extra = []
    if settings.early_stopping is not None:
        first, verbose = settings.first_metric_only, settings.verbosity >= 0
        extra.append(early_stopping(settings.early_stopping, first, verbose, settings.min_delta))
    before, after = ordered(callbacks, extra)
    history: dict[str, Any] = {}
    try:
        for index in range(rounds):
            for callback in before:
                callback(CallbackEnv(cvbooster, params, index, 0, rounds, None))
            for booster in cvbooster.boosters:
                booster.update()
            results = _means(cvbooster.boosters)
            for data, metric, mean, _, deviation in results:
                history.setdefault(f"{data} {metric}-mean", []).append(mean)
                history.setdefault(f"{data} {metric}-stdv", []).append(deviation)
            try:
                for callback in after:
                    callback(CallbackEnv(cvbooster, params, index, 0, rounds, results))
            except EarlyStopException as stop:
                cvbooster.best_iteration = stop.best_iteration + 1
                history = {name: values[: cvbooster.best_iteration] for name, values in history.items()}
                for booster in cvbooster.boosters:
                    booster.best_iteration = cvbooster.best_iteration
                break
    finally:
        for booster in cvbooster.boosters:
            booster._stop()
    if return_cvbooster:
        history["cvbooster"] = cvbooster
    return history


def _means(boosters: Sequence[Booster]) -> list[tuple[str, str, float, bool, float]]:
    """Return mean and deviation of each metric over the folds."""
    values: dict[tuple[str, str], list[float]] = {}
    higher: dict[tuple[str, str], bool] = {}
    for booster in boosters:
        for name in booster._order():
            for data, metric, value, better in booster._results(name):
                values.setdefault((data, metric), []).append(value)
                higher[data, metric] = better
    return [(*key, float(np.mean(each)), higher[key], float(np.std(each))) for key, each in values.items()]


def _folds(
    data: Dataset, params: Mapping[str, Any], folds: Any, nfold: int, stratified: bool, shuffle: bool, seed: int
) -> Iterable[tuple[Any, Any]]:
    """Return the rows of each fold, as LightGBM divides them."""
    rows = data.num_data()
    label = data.get_label()
    group = data.get_group()
    if folds is not None:
        if hasattr(folds, "split"):
            of_row = None if group is None else np.repeat(np.arange(len(group)), group)
            return list(folds.split(np.empty(rows), label, groups=of_row))
        if not isinstance(folds, Iterable):
            raise DTypeError("folds must be pairs of training and test rows, or a splitter of scikit-learn")
        return list(folds)
    if not 2 <= nfold <= rows:
        raise InputError(f"nfold = {nfold!r}: it must be from 2 to the number of rows, {rows}")
    if group is not None:
        from sklearn.model_selection import GroupKFold

        of_row = np.repeat(np.arange(len(group)), group)
        return list(GroupKFold(n_splits=nfold).split(np.empty(rows), groups=of_row))
    if stratified:
        from sklearn.model_selection import StratifiedKFold

        splitter = StratifiedKFold(n_splits=nfold, shuffle=shuffle, random_state=seed if shuffle else None)
        return list(splitter.split(np.empty(rows), label))
    order = np.random.RandomState(seed).permutation(rows) if shuffle else np.arange(rows)
    size = rows // nfold
    held = [order[at * size : (at + 1) * size] for at in range(nfold)]
    return [(np.concatenate([own for other, own in enumerate(held) if other != at]), held[at]) for at in range(nfold)]
