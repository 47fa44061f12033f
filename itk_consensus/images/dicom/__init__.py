"""DICOM: image series, segmentations (SEG) and contours (RTSTRUCT)."""
