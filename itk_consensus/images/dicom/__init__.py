"""DICOM: series, segmentations, contours."""
