"""One fuser inside, another where the contour is."""
