"""Reading and creation of images: the only package that imports SimpleITK and itk."""
