"""LightGBM's ``Booster``: a model that is trained round by round, or read from a file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from bitgrain import _native, boosting
from bitgrain.boosting.model import Model, load_model
from bitgrain.boosting.queries import queries
from bitgrain.boosting.session import Session
from bitgrain.boosting.target import weights
from bitgrain.compat.lightgbm.dataset import Dataset, checked_rows
from bitgrain.compat.lightgbm.parameters import Settings, canonical, translated
from bitgrain.errors import DTypeError, InputError

__all__ = ["Booster"]

#: Methods of LightGBM's Booster without an equivalent, with the alternative.
_MISSING = {
    "rollback_one_iter": "predict(num_iteration=...) uses fewer rounds",
    "shuffle_models": "the order of the trees does not change predictions",
    "set_leaf_output": "edit the JSON of booster.model.to_json() and read it with bitgrain.load_model",
    "get_split_value_histogram": "booster.model.trees lists all splits",
    "set_network": "use bitgrain.distributed",
    "free_network": "use bitgrain.distributed",
    "set_attr": "booster.model.metadata holds strings",
    "attr": "booster.model.metadata holds strings",
}

#: Arguments of predict that only change LightGBM's speed or checks.
_PREDICTION = {"pred_early_stop": False, "predict_disable_shape_check": False, "num_threads": None, "n_jobs": None}


class Booster:
    """A model: trained by :meth:`update`, or read from a file or string.

    Parameters
    ----------
    params : dict, optional
        Parameters by LightGBM's names.
    train_set : Dataset, optional
        Training data.
    model_file : path, optional
        Model of LightGBM, XGBoost or bitgrain.
    model_str : str, optional
        Model as a string in LightGBM's text format.

    """

    params: dict[str, Any]
    best_iteration: int
    best_score: dict[str, dict[str, float]]
    train_set: Dataset | None
    _valid: list[tuple[str, Dataset]]
    _later: list[tuple[str, Dataset]]
    _feval: list[_Feval]
    _session: Session | None
    _model: Model | None
    _round: boosting.Round | None
    _base: Model | None
    _settings: Settings | None

    def __init__(
        self,
        params: Mapping[str, Any] | None = None,
        train_set: Dataset | None = None,
        model_file: str | os.PathLike[str] | None = None,
        model_str: str | None = None,
    ) -> None:
        self._blank()
        self.params = dict(params or {})
        if train_set is not None:
            if not isinstance(train_set, Dataset):
                raise DTypeError(f"train_set must be a Dataset of this module, not {type(train_set).__name__}")
            self.train_set = train_set
            self.params = {**train_set.params, **self.params}
            self._settings = translated(self.params)
        elif model_file is not None:
            self._model = load_model(model_file)
        elif model_str is not None:
            self._model = Model.from_bytes(model_str.encode())
        else:
            raise DTypeError("a Booster needs train_set, model_file or model_str")

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Return a booster of a bitgrain model."""
        own = cls.__new__(cls)
        own._blank()
        own._model = model
        return own

    def _blank(self) -> None:
        self.params = {}
        self.best_iteration = -1
        self.best_score = {}
        self.train_set = None
        self._train_data_name = "training"
        self._valid = []
        self._later = []
        self._watch_train = False
        self._feval = []
        self._session = None
        self._model = None
        self._round = None
        self._base = None
        self._settings = None

    # ---------------------------------------------------------------------------------------------------- training

    def add_valid(self, data: Dataset, name: str) -> Self:
        """Add validation data, evaluated by :meth:`eval_valid`."""
        if not isinstance(data, Dataset):
            raise DTypeError(f"validation data must be a Dataset of this module, not {type(data).__name__}")
        if data.reference is None and data is not self.train_set:
            data.set_reference(self._trained_on())
        (self._valid if self._session is None else self._later).append((name, data))
        return self

    def set_train_data_name(self, name: str) -> Self:
        """Set the name of the training data in results."""
        self._train_data_name = name
        return self

    def update(self, train_set: Dataset | None = None, fobj: Callable[..., Any] | None = None) -> bool:
        """Train one round. Returns ``False``: training can continue."""
        if train_set is not None and train_set is not self.train_set:
            raise InputError("update on other data is not supported; use train(init_model=booster, train_set=...)")
        if fobj is not None:
            raise InputError("fobj is not supported in update; pass the function as params['objective']")
        session = self._started()
        for each in self._feval:
            each.start()
        self._round = session.update()
        self._model = None
        return False

    def _started(self) -> Session:
        if self._session is None:
            if self._model is not None:
                raise InputError("the training of this booster has ended; pass keep_training_booster=True to train")
            settings = self._chosen()
            data = self._trained_on()
            base = self._base
            binned = data._binned(settings, base)
            objective: Any = settings.objective
            if callable(objective):
                objective = _objective(objective, data, settings.num_class)
            metrics = [spec.own for spec in settings.metrics]
            self._session = Session(
                binned,
                boosting.Params(**settings.training),
                objective=objective,
                valid={name: each._binned(settings, base) for name, each in self._valid},
                metric=[*metrics, *self._feval],
                watch_train=self._train_data_name if self._watch_train else False,
                outputs=max(settings.num_class, 1),
                n_jobs=settings.n_jobs,
            )
        return self._session

    def _trained_on(self) -> Dataset:
        if self.train_set is None:
            raise InputError("the booster has no training data; create it with Booster(params, train_set)")
        return self.train_set

    def _chosen(self) -> Settings:
        if self._settings is None:
            raise InputError("the booster has no training parameters; create it with Booster(params, train_set)")
        return self._settings

    def reset_parameter(self, params: Mapping[str, Any]) -> Self:
        """Change parameters of the following rounds."""
        self.params.update(params)
        session = self._started()
        own = canonical(params)
        session.change(**{name: value for name, value in translated(params).training.items() if name in own})
        return self

    def _results(self, data: str) -> list[tuple[str, str, float, bool]]:
        """Return the metrics of the last round on a dataset that is evaluated in every round."""
        if self._round is None:
            return []
        settings = self._chosen()
        own = self._round.metrics.get(data, {})
        found = [(data, spec.name, own[spec.key], spec.higher) for spec in settings.metrics if spec.key in own]
        for each in self._feval:
            found.extend((data, *result) for result in each.of(self._order().index(data)))
        return found

    def _order(self) -> list[str]:
        first = [self._train_data_name] if self._watch_train else []
        return [*first, *(name for name, _ in self._valid)]

    def eval_train(self, feval: Any = None) -> list[tuple[str, str, float, bool]]:
        """Evaluate the metrics on the training data."""
        if self._watch_train and feval is None and self._round is not None:
            return self._results(self._train_data_name)
        return self.eval(self._trained_on(), self._train_data_name, feval)

    def eval_valid(self, feval: Any = None) -> list[tuple[str, str, float, bool]]:
        """Evaluate the metrics on all validation data."""
        found: list[tuple[str, str, float, bool]] = []
        for name, data in self._valid:
            found.extend(self._results(name) if feval is None else self.eval(data, name, feval))
        for name, data in self._later:
            found.extend(self.eval(data, name, feval))
        return found

    def eval(self, data: Dataset, name: str, feval: Any = None) -> list[tuple[str, str, float, bool]]:
        """Evaluate the metrics on any data, by predicting its rows."""
        settings = self._chosen()
        predictions = self.predict(data.get_data() if data.used_indices is not None else data.data, num_iteration=0)
        targets = data._target()
        weight = weights(data.get_weight(), len(targets))
        flat = np.ascontiguousarray(predictions.T).reshape(-1)
        found = []
        for spec in settings.metrics:
            if isinstance(spec.own, str):
                objective = settings.objective if isinstance(settings.objective, str) else "squared"
                value = _native.evaluate_metric(
                    objective, spec.own, targets, flat, weight, queries(data.get_group(), None)
                )
            else:
                value = spec.own(targets, predictions, weight)[1]
            found.append((name, spec.name, value, spec.higher))
        for call in _listed(feval):
            found.extend((name, *result) for result in _called(call, predictions, data))
        return found

    # -------------------------------------------------------------------------------------------------- prediction

    @property
    def model(self) -> Model:
        """The underlying bitgrain model, with the rounds so far."""
        if self._model is None:
            if self._session is None or self._round is None:
                raise InputError("the booster has no trees; call update first")
            self._model = self._session.model()
        return self._model

    def _rounds(self, num_iteration: int | None, start_iteration: int = 0) -> int | None:
        if num_iteration is None:
            num_iteration = self.best_iteration - start_iteration if self.best_iteration > 0 else -1
        return None if num_iteration <= 0 else int(num_iteration)

    def predict(
        self,
        data: Any,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        raw_score: bool = False,
        pred_leaf: bool = False,
        pred_contrib: bool = False,
        data_has_header: bool = False,
        validate_features: bool = False,
        **kwargs: Any,
    ) -> NDArray[Any]:
        """Predict rows.

        Parameters
        ----------
        data : array, sparse matrix or data frame
            Features.
        start_iteration : int
            First round to use.
        num_iteration : int, optional
            Number of rounds; by default up to the best round if training stopped early, otherwise all.
        raw_score, pred_leaf, pred_contrib : bool
            Whether to return raw scores, leaf indices, or SHAP values with the expected score in the last column of
            each class.
        data_has_header, validate_features : bool
            Ignored: files are not read, and the columns of data frames are always matched by name.
        **kwargs
            ``num_threads``.

        """
        for name, value in kwargs.items():
            if name not in _PREDICTION:
                raise InputError(f"{name} is not supported in predict; omit it")
            if value and _PREDICTION[name] is not None:
                raise InputError(f"{name}={value!r} is not supported in predict; all trees are always evaluated")
        if sum(map(bool, (raw_score, pred_leaf, pred_contrib))) > 1:
            raise InputError("raw_score, pred_leaf and pred_contrib exclude each other; pass one")
        n_jobs = kwargs.get("num_threads", kwargs.get("n_jobs"))
        rows, model = checked_rows(data), self.model
        how: dict[str, Any] = {
            "start": max(int(start_iteration), 0),
            "rounds": self._rounds(num_iteration, max(int(start_iteration), 0)),
            "n_jobs": n_jobs,
        }
        if pred_leaf:
            return model.predict_leaf(rows, **how).astype(np.int32)
        if pred_contrib:
            values = model.predict_contributions(rows, **how)
            return values.reshape(len(values), -1)
        return model.predict_raw(rows, **how) if raw_score else model.predict(rows, **how)

    def refit(
        self,
        data: Any,
        label: Any,
        decay_rate: float = 0.9,
        reference: Dataset | None = None,
        weight: Any = None,
        group: Any = None,
        init_score: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        dataset_params: Mapping[str, Any] | None = None,
        free_raw_data: bool = True,
        validate_features: bool = False,
        **kwargs: Any,
    ) -> Self:
        """Return a booster with the same trees, whose leaf values are fitted to new data.

        The penalties are those of the booster's parameters. Objectives with medians or quantiles in their leaves
        (`regression_l1`, `quantile`, `mape`) get those of the new data, unlike in LightGBM.

        Parameters
        ----------
        data : array, sparse matrix or data frame
            Features of the new rows.
        label : array-like
            Targets of the new rows.
        decay_rate : float
            Weight of the old leaf values, from 0 to 1.
        weight, group : array-like, optional
            Weights and sizes of queries.
        init_score : None
            Not supported.
        reference, feature_name, categorical_feature, dataset_params, free_raw_data, validate_features
            Without effect: features are read as by :meth:`predict`.
        **kwargs
            ``num_threads``.

        """
        if init_score is not None:
            raise InputError("init_score is not supported by refit; subtract it from the targets of a regression")
        for name in kwargs:
            if name not in ("num_threads", "n_jobs"):
                raise InputError(f"{name} is not supported by refit; omit it")
        training = translated({**self.params, "verbosity": -1}).training
        refitted = self.model.refit(
            checked_rows(data),
            label,
            decay_rate=decay_rate,
            sample_weight=weight,
            group=group,
            reg_alpha=training.get("reg_alpha", 0.0),
            reg_lambda=training.get("reg_lambda", 0.0),
            max_delta_step=training.get("max_delta_step", 0.0),
            n_jobs=kwargs.get("num_threads", kwargs.get("n_jobs")),
        )
        booster = type(self).from_model(refitted)
        booster.params = dict(self.params)
        return booster

    # ------------------------------------------------------------------------------------------------------- trees

    def feature_importance(self, importance_type: str = "split", iteration: int | None = None) -> NDArray[Any]:
        """Return the number of splits of each feature as integers, or their total ``gain``."""
        rounds = self._rounds(iteration)
        model = self.model if rounds is None else self.model.truncated(rounds)
        values = model.feature_importance(importance_type)
        return values.astype(np.int32) if importance_type == "split" else values

    def feature_name(self) -> list[str]:
        """Return the names of the features."""
        trained = self._round is not None or self._model is not None
        return self.model.feature_names if trained else self._trained_on().get_feature_name()

    def num_feature(self) -> int:
        """Return the number of features."""
        return len(self.feature_name())

    def num_trees(self) -> int:
        """Return the number of trees."""
        return self.model.n_trees if self._model is not None or self._round is not None else 0

    def current_iteration(self) -> int:
        """Return the number of rounds."""
        if self._round is not None and self._session is not None:
            return self._round.index + 1 + (self._base.n_rounds if self._base is not None else 0)
        return self.model.n_rounds if self._model is not None else 0

    def num_model_per_iteration(self) -> int:
        """Return the number of trees per round."""
        if self._model is None and self._settings is not None:
            return max(self._settings.num_class, 1)
        return self.model._native.n_outputs

    def lower_bound(self) -> float:
        """Return the lowest possible raw score."""
        return self._bound(np.min)

    def upper_bound(self) -> float:
        """Return the highest possible raw score."""
        return self._bound(np.max)

    def _bound(self, of: Callable[..., Any]) -> float:
        native = self.model._native
        if native.n_outputs > 1:
            raise InputError("bounds are defined for one score per row; use booster.model.trees for several classes")
        leaves = [[leaf["value"] for leaf in tree["leaves"]] for tree in self.model.trees]
        return float(sum(of(values) for values in leaves) + native.base_scores[0])

    def get_leaf_output(self, tree_id: int, leaf_id: int) -> float:
        """Return the value of a leaf, as numbered by ``predict(pred_leaf=True)``."""
        value: float = self.model.trees[tree_id]["leaves"][leaf_id]["value"]
        return value

    def trees_to_dataframe(self) -> Any:
        """Return the splits and leaves of all trees as a pandas data frame, one row per node."""
        import pandas as pd

        dump = self.dump_model(num_iteration=0)
        rows: list[dict[str, Any]] = []
        for tree in dump["tree_info"]:
            _nodes(tree["tree_structure"], tree["tree_index"], 1, None, dump["feature_names"], rows)
        return pd.DataFrame(rows)

    # ------------------------------------------------------------------------------------------------------- files

    def _cut(self, num_iteration: int | None, start_iteration: int) -> Model:
        rounds = self._rounds(num_iteration, start_iteration)
        if rounds is None and not start_iteration:
            return self.model
        return Model(self.model._native.truncated(rounds, start_iteration))

    def save_model(
        self,
        filename: str | os.PathLike[str],
        num_iteration: int | None = None,
        start_iteration: int = 0,
        importance_type: str = "split",
    ) -> Self:
        """Write LightGBM's text format, which LightGBM and :class:`Booster` read."""
        self._cut(num_iteration, start_iteration).save(filename, "lightgbm")
        return self

    def model_to_string(
        self, num_iteration: int | None = None, start_iteration: int = 0, importance_type: str = "split"
    ) -> str:
        """Return LightGBM's text format."""
        return self._cut(num_iteration, start_iteration).export("lightgbm").decode()

    def model_from_string(self, model_str: str) -> Self:
        """Replace the trees with those in a string."""
        self._stop()
        self._model = Model.from_bytes(model_str.encode())
        self.best_iteration = -1
        return self

    def dump_model(
        self,
        num_iteration: int | None = None,
        start_iteration: int = 0,
        importance_type: str = "split",
        object_hook: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    ) -> dict[str, Any]:
        """Return the model as LightGBM's dictionary."""
        text = self._cut(num_iteration, start_iteration).export("lightgbm-json")
        found: dict[str, Any] = json.loads(text, object_hook=object_hook)
        return found

    def free_dataset(self) -> Self:
        """Release the training data and end the training."""
        self._stop()
        self.train_set, self._valid, self._later = None, [], []
        return self

    def _stop(self) -> None:
        """Keep the model and end the training."""
        if self._session is not None:
            if self._round is not None and not self._session.closed:
                self._model = self.model
            self._session.close()
            self._session = None

    def __getattr__(self, name: str) -> NoReturn:
        if name in _MISSING:
            raise AttributeError(f"Booster.{name} is not supported by bitgrain; {_MISSING[name]}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        return {
            "model": self.model.to_bytes(),
            "params": {name: value for name, value in self.params.items() if not callable(value)},
            "best_iteration": self.best_iteration,
            "best_score": self.best_score,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._blank()
        self._model = Model.from_bytes(state["model"])
        self.params = state.get("params", {})
        self.best_iteration = state.get("best_iteration", -1)
        self.best_score = state.get("best_score", {})


class _Feval:
    """A metric function with LightGBM's signature, called once per dataset and round."""

    def __init__(self, call: Callable[..., Any], at: int, datasets: list[Dataset], raw: bool) -> None:
        self.__name__ = f"feval_{at}"
        self._call, self._datasets, self._raw = call, datasets, raw
        self._found: list[list[tuple[str, float, bool]]] = []

    def start(self) -> None:
        """Discard the results of the last round."""
        self._found = []

    def __call__(self, y_true: NDArray[np.float64], y_pred: NDArray[np.float64]) -> tuple[str, float, bool]:
        self._found.append(_called(self._call, y_pred, self._datasets[len(self._found)]))
        return self.__name__, 0.0, False

    def of(self, at: int) -> list[tuple[str, float, bool]]:
        """Return the results on a dataset."""
        return self._found[at] if at < len(self._found) else []


def _called(call: Callable[..., Any], predictions: Any, data: Dataset) -> list[tuple[str, float, bool]]:
    given = call(predictions, data)
    results = given if isinstance(given, list) else [given]
    for each in results:
        if not isinstance(each, tuple) or len(each) != 3:
            raise DTypeError(f"feval must return tuples of a name, a value and whether higher is better, not {each!r}")
    return [(str(name), float(value), bool(higher)) for name, value, higher in results]


def _objective(call: Callable[..., Any], data: Dataset, num_class: int) -> Callable[..., Any]:
    """Return an objective with bitgrain's signature; the function applies weights, as in LightGBM."""

    def loss(y_true: Any, raw_score: Any, weight: Any) -> tuple[Any, Any]:
        grad, hess = call(raw_score, data)
        shape = np.shape(raw_score)
        flat = [np.asarray(each) for each in (grad, hess)]
        # Flat gradients of several classes come class by class.
        grad, hess = (each.reshape(num_class, -1).T if each.ndim == 1 and len(shape) == 2 else each for each in flat)
        return grad, hess

    loss.__name__ = str(getattr(call, "__name__", "custom"))
    return loss


def _listed(feval: Any) -> Sequence[Callable[..., Any]]:
    return [] if feval is None else list(feval) if isinstance(feval, list | tuple) else [feval]


def _nodes(
    node: dict[str, Any], tree: int, depth: int, parent: str | None, names: list[str], rows: list[dict[str, Any]]
) -> str:
    """Append the rows of a node and those below it; returns its name."""
    leaf = "leaf_value" in node
    index = f"{tree}-L{node.get('leaf_index', 0)}" if leaf else f"{tree}-S{node['split_index']}"
    row: dict[str, Any] = {
        "tree_index": tree,
        "node_depth": depth,
        "node_index": index,
        "left_child": None,
        "right_child": None,
        "parent_index": parent,
        "split_feature": None if leaf else names[node["split_feature"]],
        "split_gain": node.get("split_gain"),
        "threshold": node.get("threshold"),
        "decision_type": node.get("decision_type"),
        "missing_direction": None if leaf else "left" if node["default_left"] else "right",
        "missing_type": node.get("missing_type"),
        "value": node["leaf_value"] if leaf else node["internal_value"],
        "weight": node.get("leaf_weight") if leaf else node.get("internal_weight"),
        "count": node.get("leaf_count") if leaf else node.get("internal_count"),
    }
    rows.append(row)
    if not leaf:
        row["left_child"] = _nodes(node["left_child"], tree, depth + 1, index, names, rows)
        row["right_child"] = _nodes(node["right_child"], tree, depth + 1, index, names, rows)
    return index
