"""One class for each library of images."""
