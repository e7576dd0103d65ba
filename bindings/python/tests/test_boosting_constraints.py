"""Constraints of trees: monotone and grouped features, limits, costs, forced splits; also against other libraries."""

import itertools
import json

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

import bitgrain
from bitgrain import BitgrainClassifier, BitgrainRegressor
from bitgrain.errors import DTypeError, InputError

RNG = np.random.default_rng(11)
NAMES = ["a", "b", "c", "d"]


def table(rows):
    """Rows with missing values, and a target that rises with `a` and falls with `b`, plus noise and interactions."""
    x = RNG.random((rows, 4))
    y = 3 * x[:, 0] ** 2 - 2 * np.sqrt(x[:, 1]) * (1 + x[:, 2]) + np.sin(9 * x[:, 2]) + 0.3 * RNG.standard_normal(rows)
    x[RNG.random(x.shape) < 0.05] = np.nan
    return x, y


X, Y = table(4000)
X_TEST, Y_TEST = table(2000)
SETTINGS = {"n_estimators": 60, "num_leaves": 15, "min_child_samples": 20, "learning_rate": 0.1}
DIRECTIONS = [1, -1, 0, 0]


def rmse(predicted):
    return float(np.sqrt(np.mean((predicted - Y_TEST) ** 2)))


def is_monotone(predict, column, direction):
    """Return whether predictions never move against a direction, in steps of the column from test rows."""
    steps = np.linspace(-0.2, 1.2, 70)
    rows = np.repeat(X_TEST[:100], len(steps), axis=0)
    rows[:, column] = np.tile(steps, 100)
    changes = np.diff(predict(rows).reshape(100, -1), axis=1)
    return bool((changes * direction >= 0).all())


def trained(**settings):
    data = bitgrain.Dataset(pd.DataFrame(X, columns=NAMES), Y)
    return bitgrain.train(data, objective="squared", **{**SETTINGS, **settings})


@pytest.mark.parametrize("method", ["basic", "intermediate", "advanced"])
def test_monotone_models_are_as_good_as_lightgbms(method):
    settings = {"monotone_constraints": DIRECTIONS, "monotone_constraints_method": method}
    ours = trained(**settings)
    theirs = lgb.train({**SETTINGS, **settings, "verbose": -1, "num_threads": 1}, lgb.Dataset(X, Y))
    for column, direction in [(0, 1), (1, -1)]:
        assert is_monotone(ours.predict, column, direction)
        # LightGBM 4.7 with advanced bounds is not monotone on this table.
        assert method == "advanced" or is_monotone(theirs.predict, column, direction)
        assert not is_monotone(trained().predict, column, direction)
    assert rmse(ours.predict(X_TEST)) < 1.02 * rmse(theirs.predict(X_TEST))


def test_monotone_models_are_as_good_as_xgboosts():
    ours = trained(monotone_constraints="(1,-1,0,0)", grow_policy="depthwise", max_depth=4)
    params = {"monotone_constraints": "(1,-1,0,0)", "max_depth": 4, "eta": 0.1, "reg_lambda": 0, "nthread": 1}
    theirs = xgb.train(params, xgb.DMatrix(X, Y), 60)
    for column, direction in [(0, 1), (1, -1)]:
        assert is_monotone(ours.predict, column, direction)
        assert is_monotone(lambda rows: theirs.predict(xgb.DMatrix(rows)), column, direction)
    assert rmse(ours.predict(X_TEST)) < 1.03 * rmse(theirs.predict(xgb.DMatrix(X_TEST)))


def test_directions_are_given_as_lists_arrays_names_and_strings():
    model = trained(monotone_constraints=DIRECTIONS)
    named = {"a": 1, "b": np.int64(-1)}
    for given in (
        tuple(DIRECTIONS),
        np.array(DIRECTIONS),
        named,
        "1,-1,0,0",
        "a:1,b:-1",
        json.dumps({"b": -1, "a": 1}),
    ):
        assert trained(monotone_constraints=given).to_bytes() == model.to_bytes(), given
    assert trained(mc=DIRECTIONS).to_bytes() == trained(monotonic_cst=DIRECTIONS).to_bytes() == model.to_bytes()
    assert trained(monotone_constraints=None).to_bytes() == trained().to_bytes()


def test_estimators_take_constraints():
    frame = {"monotone_constraints": DIRECTIONS, "n_estimators": 20}
    regressor = BitgrainRegressor(**frame).fit(X, Y)
    assert is_monotone(regressor.predict, 0, 1)
    classifier = BitgrainClassifier(**frame, interaction_constraints=[[0, 1], [2, 3]]).fit(X, np.median(Y) < Y)
    assert is_monotone(lambda rows: classifier.predict_proba(rows)[:, 1].round(12), 0, 1)
    assert regressor.get_params()["monotone_constraints"] == DIRECTIONS


def paths(node, used=frozenset()):
    """Yield the features of each path of a tree of LightGBM's `dump_model`."""
    if "split_feature" not in node:
        yield used
        return
    for child in ("left_child", "right_child"):
        yield from paths(node[child], used | {node["split_feature"]})


def own_paths(tree):
    """Return the features of each path of a tree of Bitgrain."""

    def below(child, used):
        if "leaf" in child:
            return [used]
        split = tree["splits"][child["split"]]
        used = used | {NAMES.index(split["feature"])}
        return below(split["left"], used) + below(split["right"], used)

    return below({"split": 0}, frozenset()) if tree["splits"] else []


def test_paths_use_one_group_as_in_lightgbm_and_xgboost():
    groups = [[0, 1], [1, 2, 3]]
    ours = trained(interaction_constraints=groups)
    theirs = lgb.train({**SETTINGS, "interaction_constraints": groups, "verbose": -1}, lgb.Dataset(X, Y))
    seen = [path for tree in ours.trees for path in own_paths(tree)]
    lightgbms = [path for tree in theirs.dump_model()["tree_info"] for path in paths(tree["tree_structure"])]
    for path in itertools.chain(seen, lightgbms):
        assert any(path <= set(group) for group in groups), path
    assert frozenset([0, 1]) in seen
    assert any(len(path) == 3 for path in seen)
    assert rmse(ours.predict(X_TEST)) < 1.02 * rmse(theirs.predict(X_TEST))
    params = {"interaction_constraints": json.dumps(groups), "max_leaves": 15, "grow_policy": "lossguide", "eta": 0.1}
    xgboosts = xgb.train({**params, "max_depth": 0, "reg_lambda": 0}, xgb.DMatrix(X, Y), 60)
    assert rmse(ours.predict(X_TEST)) < 1.03 * rmse(xgboosts.predict(xgb.DMatrix(X_TEST)))
    named = [["a", "b"], {"b", "c", "d"}]
    for given in (
        named,
        "[a,b],[b,c,d]",
        "[0,1],[1,2,3]",
        json.dumps(groups),
        [np.array([0, 1]), (1, 2, 3)],
    ):
        assert trained(interaction_constraints=given).to_bytes() == ours.to_bytes()


def test_a_feature_in_no_group_is_alone_as_in_xgboost():
    seen = {path for tree in trained(interaction_constraints=[[0, 1]]).trees for path in own_paths(tree)}
    assert frozenset([2]) in seen
    assert all(path <= {0, 1} or len(path) == 1 for path in seen)


def test_leaf_values_are_limited_as_in_lightgbm():
    settings = {"max_delta_step": 0.05, "n_estimators": 30}
    ours = trained(**settings)
    theirs = lgb.train({**SETTINGS, **settings, "verbose": -1, "boost_from_average": True}, lgb.Dataset(X, Y))
    assert max(abs(leaf["value"]) for tree in ours.trees for leaf in tree["leaves"]) == pytest.approx(0.005)
    assert rmse(ours.predict(X_TEST)) == pytest.approx(rmse(theirs.predict(X_TEST)), rel=0.02)


@pytest.mark.parametrize(
    "settings",
    [
        {"path_smooth": 10.0},
        {"extra_trees": True, "n_estimators": 200},
        {"feature_contri": [0.1, 1.0, 1.0, 1.0]},
        {"cegb_penalty_split": 0.02},
        {"cegb_penalty_feature_coupled": [0.0, 0.0, 0.0, 1e6]},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_errors_are_those_of_lightgbm(settings):
    ours = trained(**settings)
    theirs = lgb.train({**SETTINGS, **settings, "verbose": -1, "num_threads": 1}, lgb.Dataset(X, Y))
    assert rmse(ours.predict(X_TEST)) < 1.03 * rmse(theirs.predict(X_TEST))
    assert ours.to_bytes() != trained(n_estimators=settings.get("n_estimators", 60)).to_bytes()


def test_costs_keep_the_features_out_that_lightgbm_keeps_out():
    settings = {"cegb_penalty_feature_coupled": [0.0, 0.0, 0.0, 1e6]}
    theirs = lgb.train({**SETTINGS, **settings, "verbose": -1}, lgb.Dataset(X, Y))
    used = trained(**settings).feature_importance("split") > 0
    np.testing.assert_array_equal(used, theirs.feature_importance("split") > 0)
    np.testing.assert_array_equal(used, [True, True, True, False])
    assert trained(feature_contri={"a": 0.0}).feature_importance("split")[0] == 0


FORCED = {
    "feature": 2,
    "threshold": 0.5,
    "left": {"feature": 0, "threshold": 0.25},
    "right": {"feature": 1, "threshold": 0.75},
}


def test_forced_splits_are_the_top_of_trees_as_in_lightgbm(tmp_path):
    path = tmp_path / "forced.json"
    path.write_text(json.dumps(FORCED))
    ours = trained(forced_splits=FORCED)
    theirs = lgb.train({**SETTINGS, "forcedsplits_filename": str(path), "verbose": -1}, lgb.Dataset(X, Y))
    for tree, other in zip(ours.trees, theirs.dump_model()["tree_info"], strict=True):
        root = tree["splits"][0]
        top = [root, *(tree["splits"][root[side]["split"]] for side in ("left", "right"))]
        structure = other["tree_structure"]
        wanted = [structure, structure["left_child"], structure["right_child"]]
        assert (
            [NAMES.index(split["feature"]) for split in top] == [node["split_feature"] for node in wanted] == [2, 0, 1]
        )
        # Each library rounds a threshold to a boundary of its bins.
        assert [split["at_most"] for split in top] == pytest.approx([node["threshold"] for node in wanted], abs=0.01)
    assert rmse(ours.predict(X_TEST)) < 1.03 * rmse(theirs.predict(X_TEST))
    for given in (path, str(path), json.dumps(FORCED)):
        assert trained(forcedsplits_filename=given).to_bytes() == ours.to_bytes()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"monotone_constraints": [1, 0]}, "2 values for 4 features; give one per feature"),
        ({"monotone_constraints": [1, 0, 2, 0]}, "`2` is not -1, 0 or 1"),
        ({"monotone_constraints": {"zebra": 1}}, "unknown feature `zebra`"),
        ({"monotone_constraints": {"a": "up"}}, "is not a number"),
        ({"monotone_constraints_method": "exact"}, "use `basic`, `intermediate` or `advanced`"),
        ({"monotone_penalty": -1.0}, "of at least 0"),
        ({"interaction_constraints": [[0, 4]]}, r"feature index 4 \(0-based\) of 4 features"),
        ({"interaction_constraints": [[]]}, "is empty"),
        ({"interaction_constraints": [["a", 0]]}, "has feature `a` twice"),
        ({"feature_contri": [1, 1, 1, -1]}, "is not at least 0"),
        ({"cegb_penalty_feature_coupled": [np.nan] * 4}, "is not at least 0"),
        ({"cegb_penalty_split": -1.0}, "of at least 0"),
        ({"max_delta_step": -1.0}, "of at least 0"),
        ({"forced_splits": {"feature": 0}}, "the split at root has no `threshold`"),
        ({"forced_splits": "{"}, "malformed JSON"),
        ({"forced_splits": "nothing.json"}, "cannot read file `nothing.json`"),
        ({"forced_splits": FORCED, "growth": "symmetric"}, "conflicting parameters"),
    ],
    ids=str,
)
def test_invalid_constraints_are_rejected(settings, message):
    with pytest.raises(InputError, match=message):
        trained(**settings)


def test_values_of_other_types_are_rejected():
    endless = []
    endless.append(endless)
    with pytest.raises(InputError, match="levels"):
        trained(monotone_constraints=endless)
    with pytest.raises(DTypeError, match="monotone_constraints"):
        trained(monotone_constraints=True)
    with pytest.raises(InputError, match="is not a number"):
        trained(monotone_constraints=["up"] * 4)
    categorical = bitgrain.Dataset(pd.DataFrame(np.round(X[:, :2] * 5), columns=["a", "b"]), Y, categorical=["b"])
    with pytest.raises(InputError, match="feature `b` is categorical and has no order; set it to 0"):
        bitgrain.train(categorical, monotone_constraints=[0, 1])
