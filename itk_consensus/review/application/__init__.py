"""The application: a case in 3D Slicer's own views, in the browser; the only room for trame."""
