"""What the module does with segmentations, apart from its panel."""
