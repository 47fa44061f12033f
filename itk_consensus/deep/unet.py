"""A small U-Net and what it is made of, in 2D and 3D."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

_DOWNSAMPLINGS = 2
#: Sides of the network's input must be multiples of this.
STRIDE = 2**_DOWNSAMPLINGS


class UNet(nn.Module):
    """A small U-Net with two downsamplings; batch normalisation keeps windows independent."""

    def __init__(self, dimension: int, channels: int, inputs: int = 1) -> None:
        super().__init__()
        widths = [channels * 2**level for level in range(_DOWNSAMPLINGS + 1)]
        self.down = nn.ModuleList(
            nn.Sequential(block(dimension, before, after), block(dimension, after, after))
            for before, after in zip([inputs, *widths], widths, strict=False)
        )
        self.up = nn.ModuleList(
            block(dimension, below + beside, beside)
            for below, beside in zip(widths[:0:-1], widths[-2::-1], strict=True)
        )
        self.pool = nn.MaxPool2d(2) if dimension == 2 else nn.MaxPool3d(2)
        self.grow = nn.Upsample(scale_factor=2, mode="nearest")

    def forward(self, image: Tensor) -> Tensor:
        """(N, inputs, \\*S) to (N, channels, \\*S)."""
        skipped = []
        features = image
        for level, stage in enumerate(self.down):
            features = stage(features if level == 0 else self.pool(features))
            skipped.append(features)
        for stage, beside in zip(self.up, skipped[-2::-1], strict=True):
            features = stage(torch.cat([self.grow(features), beside], 1))
        return features


def block(dimension: int, inputs: int, outputs: int) -> nn.Module:
    """Convolution, normalisation, rectifier."""
    norm = nn.BatchNorm2d(outputs) if dimension == 2 else nn.BatchNorm3d(outputs)
    return nn.Sequential(
        convolution(dimension, inputs, outputs, 3, bias=False), norm, nn.ReLU(True)
    )


def convolution(
    dimension: int, inputs: int, outputs: int, side: int, bias: bool = True
) -> nn.Module:
    """One that keeps the size."""
    kind: Any = nn.Conv2d if dimension == 2 else nn.Conv3d
    module: nn.Module = kind(inputs, outputs, side, padding=side // 2, bias=bias)
    return module
