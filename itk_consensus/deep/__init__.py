"""Image-aware consensus in torch, the only package that imports torch, lazily."""
