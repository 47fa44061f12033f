"""Images in, images out: the only room that knows SimpleITK and itk."""
