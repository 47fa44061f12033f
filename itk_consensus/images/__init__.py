"""Reading and making images: the only package that imports SimpleITK and itk."""
