"""Opinion pools: combining probabilities of several raters."""
