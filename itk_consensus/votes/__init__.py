"""What raters said, and every form of it: voxels, patterns, bits, probabilities; ties."""
