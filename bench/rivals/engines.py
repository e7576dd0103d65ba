"""One prediction engine of the suite `gbdt`: reads a LightGBM model, predicts batches of several sizes, and prints its
times as a line of JSON.

    python engines.py '{"engine": "lleaves", "folder": …}'

The job has the fields of `Job` in `bench/src/gbdt/engines.rs`. The engine `train` writes the model that the others
read, and its predictions of the validation rows. Every call gets other rows than the call before: an engine with branches would otherwise be timed on rows whose
paths the processor has memorized.
"""

import itertools
import json
import sys
import time

import numpy as np


def train(job):
    import lightgbm

    x, y = (np.load(f"{job['folder']}/{name}.npy") for name in ("x", "y"))
    params = {
        "objective": "binary",
        "num_leaves": job["leaves"],
        "num_threads": job["threads"],
        "verbose": -1,
    }
    model = lightgbm.train(params, lightgbm.Dataset(x, y), job["rounds"])
    model.save_model(job["model"])
    # The reference of all engines.
    np.save(job["scores"], model.predict(np.load(f"{job['folder']}/xv.npy"), num_threads=job["threads"]))
    print(json.dumps({"version": lightgbm.__version__}))


def bitgrain(job):
    import bitgrain

    model = bitgrain.load_model(job["model"])
    return bitgrain.__version__, lambda x: model.predict(x, n_jobs=job["threads"])


def lightgbm(job):
    import lightgbm

    model = lightgbm.Booster(model_file=job["model"])
    return lightgbm.__version__, lambda x: model.predict(x, num_threads=job["threads"])


def lleaves(job):
    import importlib.metadata

    import lleaves

    model = lleaves.Model(model_file=job["model"])
    model.compile()
    return importlib.metadata.version("lleaves"), lambda x: model.predict(x, n_jobs=job["threads"])


def onnxruntime(job):
    import lightgbm
    import onnxmltools
    import onnxruntime
    from onnxmltools.convert.common.data_types import FloatTensorType

    booster = lightgbm.Booster(model_file=job["model"])
    types = [("x", FloatTensorType([None, booster.num_feature()]))]
    converted = onnxmltools.convert_lightgbm(booster, initial_types=types, zipmap=False)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = job["threads"]
    session = onnxruntime.InferenceSession(converted.SerializeToString(), options, ["CPUExecutionProvider"])
    output = session.get_outputs()[1].name
    return onnxruntime.__version__, lambda x: session.run([output], {"x": x})[0][:, 1]


def tl2cgen(job):
    import tempfile

    import tl2cgen
    import treelite

    model = treelite.frontend.load_lightgbm_model(job["model"])
    folder = tempfile.mkdtemp()
    tl2cgen.export_lib(model, toolchain="gcc", libpath=f"{folder}/model.so", params={"parallel_comp": 8})
    predictor = tl2cgen.Predictor(f"{folder}/model.so", nthread=job["threads"])
    return tl2cgen.__version__, lambda x: predictor.predict(tl2cgen.DMatrix(x)).reshape(-1)


def treelite(job):
    import treelite

    model = treelite.frontend.load_lightgbm_model(job["model"])
    return treelite.__version__, lambda x: treelite.gtil.predict(model, x, nthread=job["threads"]).reshape(-1)


ENGINES = {
    "bitgrain": bitgrain,
    "lightgbm": lightgbm,
    "lleaves": lleaves,
    "onnxruntime": onnxruntime,
    "tl2cgen": tl2cgen,
    "treelite": treelite,
}


def seconds_per_call(predict, x, rows, seconds):
    """Return the median and the 99th percentile of the duration of a call in seconds."""
    batches = [x[at : at + rows] for at in range(0, min(len(x), 20_000 * rows) - rows + 1, rows)]
    predict(batches[0])
    took, end = [], time.perf_counter() + seconds
    for batch in itertools.cycle(batches):
        start = time.perf_counter()
        predict(batch)
        done = time.perf_counter()
        took.append(done - start)
        if done > end:
            break
    return {"rows": rows, "median": float(np.median(took)), "p99": float(np.quantile(took, 0.99))}


def main(job):
    if job["engine"] == "train":
        train(job)
        return
    version, predict = ENGINES[job["engine"]](job)
    x, held = (np.load(f"{job['folder']}/{name}.npy") for name in ("x", "xv"))
    np.save(job["scores"], np.asarray(predict(held), dtype="<f8").reshape(-1))
    calls = [seconds_per_call(predict, x, rows, job["seconds"]) for rows in job["rows"]]
    print(json.dumps({"version": version, "calls": calls}))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
