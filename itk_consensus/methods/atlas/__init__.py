"""Fusion of atlases weighted by the similarity of their images to the target."""
