"""Direct inference: the most probable label map, the raters' performance being integrated out."""
