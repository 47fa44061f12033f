"""Direct inference: the most probable label map, with rater performance integrated out."""
