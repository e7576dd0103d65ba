"""Ranking: queries, objectives and metrics, compared with LightGBM, XGBoost and scikit-learn."""

import pickle

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost
from sklearn.base import clone
from sklearn.metrics import ndcg_score
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import bitgrain
from bitgrain import BitgrainClassifier, BitgrainRanker, BitgrainRegressor, Dataset
from bitgrain.boosting import cross_validate, from_lightgbm, from_xgboost, query_folds, query_metric
from bitgrain.errors import DTypeError, InputError

RANKING = ["lambdarank", "rank_xendcg", "rank_pairwise", "rank_map"]


class Search:
    """Queries with 2 to 30 rows, whose relevance depends on some of the features."""

    def __init__(self, queries, seed, *, grades=4, features=8, distinct=16):
        rng = np.random.default_rng(seed)
        self.group = rng.integers(2, 30, queries)
        rows = int(self.group.sum())
        # Few distinct values: all libraries bin them the same way.
        self.X = rng.integers(0, distinct, (rows, features)).astype(np.float64)
        self.qid = np.repeat(np.arange(queries) * 7 + 3, self.group)
        of_query = np.repeat(rng.normal(size=queries), self.group)
        Z = self.X / distinct
        score = 2 * Z[:, 0] + 3 * Z[:, 1] * Z[:, 2] + np.sin(5 * Z[:, 3]) + 0.5 * of_query + 0.6 * rng.normal(size=rows)
        edges = np.quantile(score, np.linspace(0.5, 0.97, grades))
        self.y = np.searchsorted(edges, score).astype(np.float64)
        self.position = np.concatenate([np.arange(size) for size in self.group])


@pytest.fixture(scope="module")
def search():
    return Search(200, 0)


@pytest.fixture(scope="module")
def held():
    return Search(100, 1)


# ------------------------------------------------------------------------------------------------------------ metrics


def of_lightgbm(names, at, data, scores):
    """Return LightGBM's values of metrics, of a model whose trees are negligible."""
    params = {"objective": "lambdarank", "metric": names, "eval_at": at, "verbose": -1, "learning_rate": 1e-30}
    train = lightgbm.Dataset(data.X, data.y, group=data.group)
    valid = lightgbm.Dataset(data.X, data.y, group=data.group, init_score=scores, reference=train)
    found = {}
    lightgbm.train(params, train, 1, valid_sets=[valid], callbacks=[lightgbm.record_evaluation(found)])
    return {name: values[0] for name, values in found["valid_0"].items()}


def test_metrics_are_lightgbms(held):
    rng = np.random.default_rng(2)
    scores = held.y + rng.normal(size=len(held.y)) * 2
    theirs = of_lightgbm(["ndcg", "map"], [1, 3, 5, 10, 100], held, scores)
    assert len(theirs) == 10
    for name, value in theirs.items():
        assert query_metric(name, held.y, scores, group=held.group) == pytest.approx(value, rel=1e-9), name


@pytest.mark.parametrize("metric", ["ndcg@5", "ndcg", "map@3", "map", "pre@4"])
def test_metrics_are_xgboosts(held, metric):
    rng = np.random.default_rng(3)
    scores = held.y + rng.normal(size=len(held.y)) * 2
    y = held.y if "ndcg" in metric else (held.y > 0).astype(float)
    data = xgboost.DMatrix(scores[:, None], y, group=held.group, base_margin=scores)
    params = {"objective": "rank:pairwise", "eval_metric": metric, "eta": 0.0, "ndcg_exp_gain": True}
    booster = xgboost.train(params, data, 1)
    theirs = float(booster.eval(data).split(":")[-1])
    assert query_metric(metric, y, scores, group=held.group) == pytest.approx(theirs, rel=1e-5)


def test_ndcg_is_scikit_learns(held):
    scores = np.random.default_rng(4).normal(size=len(held.y))
    for k in (1, 5, 10, None):
        values = []
        for rows in np.split(np.arange(len(held.y)), np.cumsum(held.group)[:-1]):
            gains = 2 ** held.y[rows] - 1
            values.append(ndcg_score([gains], [scores[rows]], k=k) if gains.any() else 1.0)
        name = "ndcg" if k is None else f"ndcg@{k}"
        assert query_metric(name, held.y, scores, qid=held.qid) == pytest.approx(np.mean(values), rel=1e-12)


def test_a_query_without_relevant_rows_counts_as_one_except_for_precision():
    for metric, value in (("ndcg", 1.0), ("map", 1.0), ("mrr", 1.0), ("recall", 1.0), ("precision", 0.0)):
        assert query_metric(metric, [0, 0], [1.0, 2.0], group=[2]) == value, metric


def test_unusable_metrics_name_the_cause():
    for arguments, message in (
        (("ndcg@0", [1], [1.0], [1]), "invalid parameter `0` of metric `ndcg`"),
        (("err", [1], [1.0], [1]), "unknown metric `err`"),
        (("ndcg", [-1, 0], [1.0, 2.0], [2]), "target -1 and prediction 1 of row 0"),
        (("ndcg", [0.5, 0], [1.0, 2.0], [2]), "target 0.5 and prediction 1 of row 0"),
        (("map", [1, 0], [np.nan, 2.0], [2]), "prediction NaN of row 0"),
        (("map", [1, 0], [1.0], [2]), "1 predictions for 2 rows"),
        (("map", [1, 0], [1.0, 2.0], [1]), "1 sizes sum to 1, but there are 2 rows"),
    ):
        metric, y, scores, group = arguments
        with pytest.raises(InputError, match=message):
            query_metric(metric, y, scores, group=group)
    with pytest.raises(InputError, match="missing queries"):
        query_metric("ndcg", [1], [1.0])


# --------------------------------------------------------------------------------------------------- gradients, trees

SETTINGS = {"num_leaves": 15, "learning_rate": 0.1, "min_child_samples": 20}


def lightgbms(params, data, rounds, **more):
    """Return a model of LightGBM with the same settings."""
    known = {"num_leaves": 15, "learning_rate": 0.1, "min_data_in_leaf": 20, "verbose": -1, "min_data_in_bin": 1}
    train = lightgbm.Dataset(data.X, data.y, group=data.group, params={"min_data_in_bin": 1}, **more)
    return lightgbm.train({**known, **params}, train, rounds)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"lambdarank_norm": False},
        {"lambdarank_truncation_level": 3},
        {"label_gain": [0, 1, 2, 3, 10]},
        {"lambdarank_sigmoid": 2.0},
    ],
    ids=str,
)
def test_the_first_trees_are_lightgbms(search, params):
    theirs = lightgbms({"objective": "lambdarank", **{key.replace("lambdarank_sigmoid", "sigmoid"): value for key, value in params.items()}}, search, 5)  # fmt: skip  # noqa: E501
    data = Dataset(search.X, search.y, group=search.group)
    ours = bitgrain.train(data, n_estimators=5, **SETTINGS, **params)
    assert ours.objective == "lambdarank"
    # LightGBM reads the logistic function from a table of a million values, and adds up in another order.
    for rounds in (1, 5):
        want = theirs.predict(search.X, num_iteration=rounds)
        np.testing.assert_allclose(ours.predict(search.X, rounds=rounds), want, rtol=2e-3, atol=2e-4)


def test_weights_scale_the_gradients_as_in_lightgbm(search):
    weight = np.random.default_rng(5).random(len(search.y)) + 0.5
    theirs = lightgbms({"objective": "lambdarank"}, search, 3, weight=weight)
    ours = bitgrain.train(Dataset(search.X, search.y, group=search.group, weight=weight), n_estimators=3, **SETTINGS)
    np.testing.assert_allclose(ours.predict(search.X), theirs.predict(search.X), rtol=2e-3, atol=2e-4)


def test_position_bias_is_lightgbms(search):
    params = {"objective": "lambdarank", "lambdarank_position_bias_regularization": 0.3}
    theirs = lightgbms(params, search, 6, position=search.position)
    data = Dataset(search.X, search.y, group=search.group, position=search.position)
    ours = bitgrain.train(data, n_estimators=6, **SETTINGS, lambdarank_position_bias_regularization=0.3)
    plain = bitgrain.train(Dataset(search.X, search.y, group=search.group), n_estimators=6, **SETTINGS)
    np.testing.assert_allclose(ours.predict(search.X), theirs.predict(search.X), rtol=2e-3, atol=5e-4)
    assert not np.allclose(ours.predict(search.X), plain.predict(search.X), atol=5e-3)


def quality(model, data, metric="ndcg@10"):
    return query_metric(metric, data.y, model.predict(data.X), group=data.group)


@pytest.mark.parametrize("objective", ["lambdarank", "rank_xendcg"])
def test_quality_is_lightgbms(objective):
    train, test = Search(600, 6), Search(300, 7)
    theirs = lightgbms({"objective": objective}, train, 100)
    ours = bitgrain.train(
        Dataset(train.X, train.y, group=train.group), objective=objective, n_estimators=100, **SETTINGS
    )
    assert quality(ours, test) > quality(theirs, test) * 0.995


@pytest.mark.parametrize(("objective", "metric"), [("rank_pairwise", "ndcg@10"), ("rank_map", "map@10")])
def test_quality_is_xgboosts(objective, metric):
    grades = 1 if objective == "rank_map" else 4
    train, test = Search(600, 6, grades=grades), Search(300, 7, grades=grades)
    params = {"objective": objective.replace("_", ":"), "eta": 0.1, "max_leaves": 15, "grow_policy": "lossguide"}
    theirs = xgboost.train({**params, "max_depth": 0}, xgboost.DMatrix(train.X, train.y, group=train.group), 100)
    ours = bitgrain.train(
        Dataset(train.X, train.y, group=train.group), objective=objective, n_estimators=100, **SETTINGS
    )
    of_xgboost = query_metric(metric, test.y, theirs.predict(xgboost.DMatrix(test.X)), group=test.group)
    assert quality(ours, test, metric) > of_xgboost * 0.99


def test_imported_ranking_models_predict_the_same_and_can_be_continued(search):
    theirs = lightgbms({"objective": "lambdarank"}, search, 10)
    np.testing.assert_allclose(from_lightgbm(theirs).predict(search.X), theirs.predict(search.X), rtol=1e-6)
    data = xgboost.DMatrix(search.X, search.y, group=search.group)
    theirs = xgboost.train({"objective": "rank:ndcg"}, data, 5)
    model = from_xgboost(theirs)
    np.testing.assert_allclose(model.predict(search.X), theirs.predict(data), rtol=1e-5, atol=1e-6)
    more = bitgrain.train(Dataset(search.X, search.y, group=search.group, init_model=model), n_estimators=5)
    assert more.n_rounds == 10
    assert quality(more, search) > quality(model, search)


# --------------------------------------------------------------------------------------------------------- native API


@pytest.mark.parametrize("objective", RANKING)
def test_models_do_not_depend_on_threads_and_keep_their_objective(objective, tmp_path):
    data = Search(60, 8, grades=1)
    models = [
        bitgrain.train(
            Dataset(data.X, data.y, group=data.group), objective=objective, n_estimators=8, subsample=0.7, n_jobs=n_jobs
        )
        for n_jobs in (1, 2, 5)
    ]
    assert len({model.to_bytes() for model in models}) == 1
    models[0].save(tmp_path / "rank.bitgrain")
    assert bitgrain.load_model(tmp_path / "rank.bitgrain").objective == objective
    assert quality(models[0], data, "map") > query_metric("map", data.y, np.zeros(len(data.y)), group=data.group)


@pytest.mark.parametrize("alias", ["rank:ndcg", "rank:pairwise", "rank:map", "xendcg"])
def test_names_of_other_libraries_are_accepted(alias):
    data = Search(20, 9, grades=1)
    model = bitgrain.train(Dataset(data.X, data.y, qid=data.qid), {"objective": alias}, n_estimators=2)
    assert model.objective in RANKING


def test_sizes_ids_and_strings_give_the_same_model(search):
    ids = [
        {"group": search.group},
        {"group": search.group.tolist()},
        {"qid": search.qid},
        {"qid": search.qid.astype(np.uint64) + 2**63},
        {"qid": [f"query {each}" for each in search.qid]},
        {"qid": pd.Series(search.qid)},
        {"qid": pl.Series(search.qid)},
        {"qid": search.qid.astype(float)},
    ]
    models = [bitgrain.train(Dataset(search.X, search.y, **each), n_estimators=3).to_bytes() for each in ids]
    assert len(set(models)) == 1
    assert Dataset(search.X, search.y, qid=search.qid).group.tolist() == search.group.tolist()
    assert Dataset(search.X, search.y).group is None


@pytest.mark.parametrize(
    ("queries", "error", "message"),
    [
        ({"group": [1, 1]}, InputError, "2 sizes sum to 2, but there are 4 rows"),
        ({"group": [4, 0]}, InputError, "empty group: size 0 of group 1"),
        ({"group": [5, -1]}, InputError, "group contains the size -1"),
        ({"group": [2.5, 1.5]}, DTypeError, "sizes of queries must be integers"),
        ({"group": [[4]]}, InputError, "group should be a 1d array"),
        ({"qid": [1, 2, 1, 1]}, InputError, "rows of query `1` are not adjacent: row 2"),
        ({"qid": ["a", "b", "a", "a"]}, InputError, "rows of query `a` are not adjacent: row 2"),
        ({"qid": [1, 1]}, InputError, "2 query ids for 4 rows"),
        ({"qid": ["a", None, "b", "b"]}, InputError, "missing query in row 1"),
        ({"qid": [1.0, np.nan, 2.0, 2.0]}, InputError, "missing query in row 1"),
        ({"qid": [1, 1, 2, 2], "group": [4]}, InputError, "conflicting arguments: group and qid"),
        ({"position": [1, 2, 3, 4]}, InputError, "position needs queries"),
        ({"group": [4], "position": [1, 2]}, InputError, "2 positions for 4 rows"),
        ({"group": [4], "position": [1, 2, 3, -1]}, InputError, "positions must be in"),
        ({"group": [4], "position": [1, 2, 3, 0.5]}, DTypeError, "positions must be integers"),
    ],
)
def test_unusable_queries_are_rejected(queries, error, message):
    with pytest.raises(error, match=message):
        Dataset(np.arange(8.0).reshape(4, 2), [0, 1, 0, 1], **queries)


def test_a_query_can_be_too_large():
    X = np.zeros((65_537, 1), dtype=np.float32)
    with pytest.raises(InputError, match="query too large: 65537 rows starting at row 0"):
        Dataset(X, np.zeros(65_537), group=[65_537])


@pytest.mark.parametrize(
    ("y", "settings", "message"),
    [
        ([0, 1, -1, 0], {}, "label -1 of row 2 .* is not a relevance label; expected an integer in 0..31"),
        ([0, 1, 0.5, 0], {}, "label 0.5 of row 2"),
        ([0, 1, 31, 0], {}, "label 31 of row 2 .* or a longer label_gain"),
        ([0, 1, 2, 0], {"label_gain": [0, 1]}, "expected an integer in 0..2"),
        ([0, 1, 2, 0], {"label_gain": [1, 0, 2]}, "invalid label_gain"),
        ([0, 1, 2, 0], {"label_gain": "x"}, "invalid label_gain"),
        ([0, 1, 2, 0], {"lambdarank_truncation_level": 0}, "invalid lambdarank_truncation_level"),
        ([0, 1, 2, 0], {"lambdarank_sigmoid": 0}, "invalid lambdarank_sigmoid"),
        ([0, 1, 2, 0], {"objective": "rank_map"}, "`rank_map` expects targets 0 or 1"),
    ],
)
def test_unusable_labels_and_settings_are_rejected(y, settings, message):
    data = Dataset(np.arange(8.0).reshape(4, 2), y, group=[4])
    with pytest.raises(InputError, match=message):
        bitgrain.train(data, **{"objective": "lambdarank", **settings})


def test_ranking_needs_queries(search, held):
    with pytest.raises(InputError, match="missing queries: `lambdarank` ranks the rows of a query"):
        bitgrain.train(Dataset(search.X, search.y), objective="lambdarank")
    data = Dataset(search.X, search.y, group=search.group)
    with pytest.raises(InputError, match="missing queries: `ndcg@10`"):
        bitgrain.train(data, valid=data.like(held.X, held.y))
    with pytest.raises(InputError, match="missing queries: `map`"):
        bitgrain.train(Dataset(search.X, search.y), objective="squared", metric="map", watch_train=True)


def test_metrics_are_evaluated_and_stop_the_training(search, held):
    data = Dataset(search.X, search.y, group=search.group)
    valid = data.like(held.X, held.y, qid=held.qid)
    metrics = ["ndcg@5", "map", "mrr", "precision@3", "recall@3"]
    model = bitgrain.train(
        data, valid=valid, metric=metrics, n_estimators=300, early_stopping_rounds=5, watch_train=True
    )
    assert model.n_rounds < 300
    for metric in metrics:
        assert quality(model, held, metric) == model.history["valid"][metric][model.best_iteration - 1]
    assert model.best_iteration == 1 + int(np.argmax(model.history["valid"]["ndcg@5"]))
    assert set(model.history["train"]) == set(metrics)


def test_cross_validation_keeps_queries_together(search):
    data = Dataset(search.X, search.y, group=search.group)
    result = cross_validate(data, folds=4, n_estimators=10, metric=["ndcg@3", "map"])
    assert result.metrics["ndcg@3"].shape == (4,)
    assert result.metrics["ndcg@3"].min() > 0.5
    with pytest.raises(InputError, match="invalid folds: `300`; use an integer from 2 to the number of queries, 200"):
        cross_validate(data, folds=300)


def test_folds_of_queries(search):
    folds = query_folds(qid=search.qid, folds=5, seed=1)
    assert len(folds) == 5
    assert np.array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(len(search.y)))
    for train, test in folds:
        assert not set(search.qid[train]) & set(search.qid[test])
        assert len(np.unique(search.qid[test])) == 40
    for (_, a), (_, b) in zip(folds, query_folds(group=search.group, folds=5, seed=1), strict=True):
        assert np.array_equal(a, b)
    with pytest.raises(InputError, match="number of queries"):
        query_folds(group=[2, 2], folds=3)
    with pytest.raises(InputError, match="missing queries"):
        query_folds()


# ---------------------------------------------------------------------------------------------------------- estimator


class OneQuery(BitgrainRanker):
    """All rows as one query, with any labels: what the checks of scikit-learn pass."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, self._group(X, y), sample_weight=sample_weight)

    def score(self, X, y, sample_weight=None):
        return super().score(X, y, self._group(X, y), sample_weight=sample_weight)

    def _group(self, X, y):
        return [X.shape[0] if hasattr(X, "shape") else np.asarray(y).size]


@parametrize_with_checks(
    [OneQuery(objective="rank_pairwise")],
    expected_failed_checks=lambda _: {
        # Weights scale the gradients of a row; a second row would also form pairs.
        "check_sample_weight_equivalence_on_dense_data": "a repeated row is a pair of rows",
        "check_sample_weight_equivalence_on_sparse_data": "a repeated row is a pair of rows",
    },
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_the_ranker_equals_the_native_interface(search, held):
    model = BitgrainRanker(n_estimators=20, random_state=3)
    model.fit(
        search.X, search.y, search.group, eval_set=[(search.X, search.y), (held.X, held.y)],
        eval_qid=[search.qid, held.qid], eval_metric=["ndcg@5", "map"],
    )  # fmt: skip
    native = bitgrain.train(Dataset(search.X, search.y, qid=search.qid), n_estimators=20, seed=3)
    assert np.array_equal(model.predict(held.X), native.predict(held.X))
    assert model.evals_result_["valid"]["map"][-1] == model.score(held.X, held.y, qid=held.qid, metric="map")
    assert model.evals_result_["train"]["ndcg@5"][-1] == model.score(search.X, search.y, search.group, metric="ndcg@5")
    assert model.booster_.objective == "lambdarank"


def test_early_stopping_of_the_ranker(search, held):
    model = BitgrainRanker(n_estimators=300, early_stopping_rounds=3)
    model.fit(search.X, search.y, qid=search.qid, eval_set=(held.X, held.y), eval_group=held.group)
    assert model.booster_.n_rounds == model.best_iteration_ < 300


def test_the_ranker_is_saved_pickled_and_cloned(search, tmp_path):
    model = BitgrainRanker(objective="rank_xendcg", n_estimators=5, label_gain=[0, 1, 2, 3, 4])
    model.fit(search.X, search.y, qid=search.qid)
    model.save(tmp_path / "rank.bitgrain")
    loaded = BitgrainRanker.load(tmp_path / "rank.bitgrain")
    assert loaded.get_params() == model.get_params()
    for other in (loaded, pickle.loads(pickle.dumps(model))):
        assert np.array_equal(other.predict(search.X), model.predict(search.X))
    assert clone(model).get_params() == model.get_params()


def test_the_ranker_needs_queries_and_a_ranking_objective(search, held):
    model = BitgrainRanker(n_estimators=2)
    for given, message in (
        ({}, "missing queries; pass the sizes of the queries as group"),
        ({"group": search.group, "eval_set": (held.X, held.y)}, "missing queries of eval_set"),
        ({"group": search.group, "eval_set": (held.X, held.y), "eval_group": [held.group] * 2}, "2 eval_group for 1"),
        ({"group": search.group, "qid": search.qid}, "conflicting arguments"),
    ):
        with pytest.raises(InputError, match=message):
            model.fit(search.X, search.y, **given)
    with pytest.raises(InputError, match="objective 'squared' is not for ranking"):
        BitgrainRanker(objective="squared").fit(search.X, search.y, search.group)
    with pytest.raises(DTypeError, match="it must be a name"):
        BitgrainRanker(objective=3).fit(search.X, search.y, search.group)
    with pytest.raises(InputError, match="is for ranking; use BitgrainRanker"):
        BitgrainRegressor(objective="lambdarank").fit(search.X, search.y)
    with pytest.raises(InputError, match="is not for classification"):
        BitgrainClassifier(objective="lambdarank").fit(search.X, search.y)
    with pytest.raises(InputError, match="missing queries"):
        BitgrainRanker(n_estimators=2).fit(search.X, search.y, search.group).score(search.X, search.y)


def test_scikit_learns_cross_validation(search):
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        model = BitgrainRanker(n_estimators=10).set_fit_request(qid=True).set_score_request(qid=True)
        for cv, groups in ((GroupKFold(3), {"groups": search.qid}), (query_folds(qid=search.qid, folds=3), {})):
            values = cross_val_score(model, search.X, search.y, cv=cv, params={"qid": search.qid, **groups})
            assert values.shape == (3,)
            assert values.min() > 0.6
