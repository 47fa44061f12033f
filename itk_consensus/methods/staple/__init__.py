"""STAPLE: EM on confusion matrices, with priors, starts, cohorts, fields, COLLATE, windows."""
