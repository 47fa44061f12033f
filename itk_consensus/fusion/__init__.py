"""Pure functions from votes to one family of results; a folder for each idea."""
