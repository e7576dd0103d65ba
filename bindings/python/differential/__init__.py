"""Differential tests: random tables and settings, trained by bitgrain, LightGBM and XGBoost side by side.

| module | contents |
|---|---|
| `column` | feature columns of every kind |
| `task` | objectives, their targets and their losses |
| `case` | one case: a recipe, and the tables drawn from it |
| `rivals` | the same training by the three libraries |
| `checks` | invariants of a single model: history, batches, threads, files, imports |
| `quality` | the comparison of losses |
| `suite` | many cases on several processes, and their record |

``python -m differential --cases 5000 --seed 1 --json out.json`` in ``bindings/python`` runs many cases;
``test_differential.py`` runs a few hundred.
"""
