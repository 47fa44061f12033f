"""Image-aware consensus in torch. Nothing outside this folder imports torch, and that lazily."""
