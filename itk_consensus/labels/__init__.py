"""Label stacks and decision patterns: arrays only, no images."""
