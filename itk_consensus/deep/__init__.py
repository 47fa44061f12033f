"""Image-aware consensus in torch; no other package imports torch, and this one does so lazily."""
