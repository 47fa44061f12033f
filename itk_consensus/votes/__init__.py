"""The raters' votes as voxels, patterns, bits or probabilities, and the rule for ties."""
