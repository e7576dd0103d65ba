"""One run of a library in the suite `gbdt`: reads a table, bins, trains, predicts, and prints its costs as a line of JSON.

    python rival.py '{"contender": "lightgbm", "folder": …}'

The job has the fields of `Job` in `bench/src/gbdt/job.rs`. Raw scores of the validation rows are written to a file, from
which the caller computes the quality.
"""

import json
import sys
import time

import numpy as np


def watched(work):
    """Return the result of `work` and its duration in seconds: wall-clock time, and CPU time of all threads."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def status(field):
    """Return a field of /proc/self/status in bytes, or None on systems without it."""
    try:
        with open("/proc/self/status", encoding="ascii") as lines:
            found = [line.split()[1] for line in lines if line.startswith(field + ":")]
        return int(found[0]) * 1024
    except (OSError, IndexError):
        return None


def forget_the_peak():
    """Reset the peak memory of this process, so that imports and reading the input do not count."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        pass


class LightGbm:
    def __init__(self, job, quantized):
        import lightgbm

        self.library, self.version = lightgbm, lightgbm.__version__
        self.threads, self.rounds, self.categorical = job["threads"], job["rounds"], job["categorical"]
        self.params = {
            "objective": "binary" if job["objective"] == "binary" else "regression",
            "num_leaves": job["leaves"],
            "learning_rate": job["learning_rate"],
            "max_bin": job["bins"],
            "min_data_in_leaf": job["min_child_samples"],
            "num_threads": job["threads"],
            "seed": job["seed"],
            "verbose": -1,
        }
        if quantized:
            self.params |= {"use_quantized_grad": True, "num_grad_quant_bins": 4, "quant_train_renew_leaf": True}

    def bin(self, x, y):
        data = self.library.Dataset(x, y, params=self.params, categorical_feature=self.categorical)
        return data.construct()

    def train(self, data):
        self.model = self.library.train(self.params, data, self.rounds)

    def predict(self, x):
        return self.model.predict(x, raw_score=True, num_threads=self.threads)


class XgBoost:
    def __init__(self, job, policy):
        import xgboost

        self.library, self.version = xgboost, xgboost.__version__
        self.threads, self.rounds, self.bins = job["threads"], job["rounds"], job["bins"]
        self.categorical = job["categorical"]
        self.params = {
            "objective": "binary:logistic" if job["objective"] == "binary" else "reg:squarederror",
            "tree_method": "hist",
            "grow_policy": policy,
            "max_bin": job["bins"],
            "learning_rate": job["learning_rate"],
            "lambda": 0,
            "min_child_weight": 1e-3,
            "nthread": job["threads"],
            "seed": job["seed"],
            "verbosity": 0,
        }
        by_leaf = {"max_leaves": job["leaves"], "max_depth": 0}
        self.params |= by_leaf if policy == "lossguide" else {"max_depth": job["depth"]}

    def bin(self, x, y):
        kinds = ["c" if i in self.categorical else "float" for i in range(x.shape[1])] if self.categorical else None
        return self.library.QuantileDMatrix(
            x, y, max_bin=self.bins, nthread=self.threads, feature_types=kinds, enable_categorical=bool(kinds)
        )

    def train(self, data):
        self.model = self.library.train(self.params, data, self.rounds)
        self.model.set_param({"nthread": self.threads})

    def predict(self, x):
        if not self.categorical:
            return self.model.inplace_predict(x, predict_type="margin")
        kinds = ["c" if i in self.categorical else "float" for i in range(x.shape[1])]
        data = self.library.DMatrix(x, feature_types=kinds, enable_categorical=True, nthread=self.threads)
        return self.model.predict(data, output_margin=True)


class CatBoost:
    def __init__(self, job):
        import catboost

        self.library, self.version = catboost, catboost.__version__
        self.threads, self.categorical, self.bins = job["threads"], job["categorical"], job["bins"]
        make = catboost.CatBoostClassifier if job["objective"] == "binary" else catboost.CatBoostRegressor
        self.model = make(
            iterations=job["rounds"],
            learning_rate=job["learning_rate"],
            depth=job["depth"],
            border_count=job["bins"] - 1,
            l2_leaf_reg=0,
            random_strength=0,
            bootstrap_type="No",
            boosting_type="Plain",
            leaf_estimation_iterations=1,
            boost_from_average=True,
            thread_count=job["threads"],
            random_seed=job["seed"],
            allow_writing_files=False,
            verbose=False,
        )

    def pool(self, x, y=None):
        if not self.categorical:
            return self.library.Pool(x, y, thread_count=self.threads)
        numeric = [i for i in range(x.shape[1]) if i not in self.categorical]
        words = x[:, self.categorical].astype("S").astype(object)
        data = self.library.FeaturesData(np.ascontiguousarray(x[:, numeric]), words)
        return self.library.Pool(data, y, thread_count=self.threads)

    def bin(self, x, y):
        pool = self.pool(x, y)
        if not self.categorical:
            pool.quantize(border_count=self.bins - 1)
        return pool

    def train(self, data):
        self.model.fit(data)

    def predict(self, x):
        data = self.pool(x) if self.categorical else x
        return self.model.predict(data, prediction_type="RawFormulaVal", thread_count=self.threads)


class ScikitLearn:
    """Binning is part of `fit`. OpenMP determines the number of threads, from a variable that the caller sets."""

    def __init__(self, job):
        import sklearn
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        self.version = sklearn.__version__
        self.binary = job["objective"] == "binary"
        make = HistGradientBoostingClassifier if self.binary else HistGradientBoostingRegressor
        self.model = make(
            max_iter=job["rounds"],
            learning_rate=job["learning_rate"],
            max_leaf_nodes=job["leaves"],
            max_bins=job["bins"],
            min_samples_leaf=job["min_child_samples"],
            early_stopping=False,
            random_state=job["seed"],
            categorical_features=job["categorical"] or None,
        )

    bin = None

    def train(self, data):
        self.model.fit(*data)

    def predict(self, x):
        return self.model.decision_function(x) if self.binary else self.model.predict(x)


RIVALS = {
    "lightgbm": lambda job: LightGbm(job, quantized=False),
    "lightgbm-quantized": lambda job: LightGbm(job, quantized=True),
    "xgboost-lossguide": lambda job: XgBoost(job, "lossguide"),
    "xgboost-depthwise": lambda job: XgBoost(job, "depthwise"),
    "catboost": CatBoost,
    "scikit-learn": ScikitLearn,
}


def main(job):
    rival = RIVALS[job["contender"]](job)
    x, y, held = (np.load(f"{job['folder']}/{name}.npy") for name in ("x", "y", "xv"))
    forget_the_peak()
    before = status("VmRSS")

    if rival.bin:
        data, binned = watched(lambda: rival.bin(x, y))
    else:
        data, binned = (x, y), None
    _, trained = watched(lambda: rival.train(data))
    peak = status("VmHWM")
    del data

    # The first call is a warm-up: it may build tables.
    np.save(job["scores"], np.asarray(rival.predict(held), dtype="<f8").reshape(-1))
    rows = x if job["predict_training_rows"] else held
    calls, spent = 0, {"wall": 0.0, "cpu": 0.0}
    while calls == 0 or spent["wall"] < job["predict_seconds"]:
        _, call = watched(lambda: rival.predict(rows))
        spent = {key: spent[key] + call[key] for key in spent}
        calls += 1
    print(
        json.dumps(
            {
                "version": rival.version,
                "bin": binned,
                "train": trained,
                "predict": {key: value / calls for key, value in spent.items()},
                "peak_bytes": None if before is None or peak is None else max(0, peak - before),
            }
        )
    )


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
