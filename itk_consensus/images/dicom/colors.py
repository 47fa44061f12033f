"""Colours as stored in DICOM: CIELab in 16 bits, relative to the white point D50."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Color = tuple[float, float, float]

_WHITE = np.array([0.9642, 1.0, 0.8249])
#: Matrix from XYZ to linear sRGB, adapted to D50.
_RGB_OF_XYZ = np.array(
    [
        [3.1338561, -1.6168667, -0.4906146],
        [-0.9787684, 1.9161415, 0.0334540],
        [0.0719453, -0.2289914, 1.4052427],
    ]
)
_XYZ_OF_RGB = np.linalg.inv(_RGB_OF_XYZ)
#: Below this value, CIELab replaces the cube root by a linear function.
_KNEE = 6 / 29


def rgb_of_cielab(lightness: float, a: float, b: float) -> Color:
    """Convert CIELab to sRGB from 0 to 1; colours outside the gamut are clipped."""
    y = (lightness + 16) / 116
    t = np.array([y + a / 500, y, y - b / 200])
    xyz = np.where(t > _KNEE, t**3, 3 * _KNEE**2 * (t - 4 / 29)) * _WHITE
    linear = np.clip(_RGB_OF_XYZ @ xyz, 0, 1)
    curved = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    red, green, blue = np.clip(curved, 0, 1).tolist()
    return red, green, blue


def cielab_of_rgb(color: Color) -> tuple[float, float, float]:
    """Convert sRGB to L* from 0 to 100, and a* and b* from -128 to 127."""
    curved = np.asarray(color, np.float64)
    linear = np.where(curved <= 0.04045, curved / 12.92, ((curved + 0.055) / 1.055) ** 2.4)
    xyz = _XYZ_OF_RGB @ linear / _WHITE
    x, y, z = np.where(xyz > _KNEE**3, np.cbrt(xyz), xyz / (3 * _KNEE**2) + 4 / 29).tolist()
    lightness = float(np.clip(116 * y - 16, 0, 100))
    a, b = np.clip([500 * (x - y), 200 * (y - z)], -128, 127).tolist()
    return lightness, a, b


def rgb_of_stored(stored: Sequence[int]) -> Color:
    """Convert the three 16-bit values of RecommendedDisplayCIELabValue to sRGB."""
    lightness, a, b = np.asarray(stored, np.float64) / 65535
    return rgb_of_cielab(100 * lightness, 255 * a - 128, 255 * b - 128)
