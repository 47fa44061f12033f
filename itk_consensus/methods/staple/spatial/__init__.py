"""Spatial STAPLE: raters whose performance varies from place to place."""
