"""The application: a case in 3D Slicer's views in the browser; the only package that uses trame."""
