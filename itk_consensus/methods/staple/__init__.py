"""STAPLE: EM on confusion matrices; priors, starts, cohorts, Markov fields, COLLATE, windows."""
