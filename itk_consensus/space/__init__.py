"""Operations on neighbourhoods of voxels: tiles, boxes, smoothing, distances, components."""
