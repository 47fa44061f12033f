"""Opinion pools, which combine the probabilities of several raters."""
