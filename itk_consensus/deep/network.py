"""The network: an image stream, a label stream that pools raters, and a Dirichlet head.

One class serves 2D and 3D. Arrays are (N, channels, \\*S); label stacks are (N, A, \\*S), with any
number of raters A.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from itk_consensus.core.errors import ParameterError

#: Evidence is exp of the logit, which is clamped to this value; with softplus, training is slow at
#: confident voxels.
_LARGEST_LOGIT = 10.0
_FIRST_TRUST = 0.5
#: Maximum number of raters that are encoded per training batch, drawn at random. A sample suffices
#: since raters are pooled; encoding fifteen atlases would cost twice as much as the U-Net.
_ENCODED_RATERS = 6
_KEPT_TYPES = {torch.float32, torch.float64, torch.int64, torch.uint8}
_DOWNSAMPLINGS = 2
#: Sides of the U-Net's input must be multiples of this.
STRIDE = 2**_DOWNSAMPLINGS
#: Strides to try for image streams without an attribute `stride`.
_TRIED_STRIDES = (4, 8, 16, 32)


@dataclass(frozen=True)
class NetworkShape:
    """Parameters of the architecture."""

    dimension: int  #: 2 or 3
    classes: int  #: Number of classes, K
    raters: int  #: Number of known raters, without the unknown rater 0
    channels: int  #: Features of the image stream at full resolution
    sees_labels: bool  #: False if the network receives only the image (joint mode)
    inputs: int = 1  #: Channels of the image


class StreamSides(NamedTuple):
    """Constraints on the sides of an image stream's input."""

    stride: int  #: The sides must be multiples of this number
    least: int  #: Minimum length of a side


#: Constraints of the built-in U-Net.
OWN_SIDES = StreamSides(STRIDE, STRIDE)


class ConsensusNetwork(nn.Module):
    """Maps image and label stack to the concentrations of a Dirichlet distribution per voxel."""

    def __init__(
        self,
        shape: NetworkShape,
        image_stream: nn.Module | None = None,
        sides: StreamSides = OWN_SIDES,
    ) -> None:
        """Build the network; `image_stream` replaces the U-Net.

        It maps (N, inputs, \\*S) to (N, channels, \\*S).

        The U-Net gets image and label features together, since the relation of intensities to
        classes varies between images. A custom stream gets the image only; two more blocks then
        combine its features with those of the labels.
        """
        super().__init__()
        self.shape = shape
        self.sides = sides
        self.has_own_image_stream = image_stream is not None
        self.label_stream = LabelStream(shape) if shape.sees_labels else None
        drawn = self.label_stream.width if self.label_stream else 0
        self.image_stream = image_stream or UNet(
            shape.dimension, shape.channels, shape.inputs + drawn
        )
        blocks = []
        if self.has_own_image_stream and drawn:
            blocks = [
                block(shape.dimension, shape.channels + drawn, shape.channels),
                block(shape.dimension, shape.channels, shape.channels),
            ]
        self.head = nn.Sequential(
            *blocks, convolution(shape.dimension, shape.channels, shape.classes, 1)
        )
        # Weight of the raters' likelihood, which is added to the logits by a skip connection.
        self.trust = nn.Parameter(torch.tensor(_FIRST_TRUST)) if shape.sees_labels else None
        # The channels-last layout saves a sixth of the time on CPUs.
        self._layout = torch.channels_last if shape.dimension == 2 else torch.channels_last_3d
        self.to(memory_format=self._layout)  # type: ignore[call-overload]

    def start_from_raters(self) -> None:
        """Initialise the head to 0, so that the first output is the raters' likelihood or prior.

        This is for training with truths. Without truths, training would first have to reduce the
        overconfidence of that likelihood, which assumes independent raters.
        """
        for value in self.head[-1].parameters() if self.shape.sees_labels else ():
            nn.init.zeros_(value)

    def forward(self, image: Tensor, votes: Tensor, raters: Tensor, likelihood: Tensor) -> Tensor:
        """Return concentrations alpha >= 1.

        Parameters
        ----------
        image : (N, inputs, \\*S) Tensor
        votes : (N, A, K, \\*S) Tensor
            Labels of each rater, one-hot; all zero where missing.
        raters : (N, A) Tensor of int64
            Index of each rater; 0 is an unknown rater.
        likelihood : (N, K, \\*S) Tensor
            sum_a log C_a[k, d_a], from `rater_log_likelihood`.

        Returns
        -------
        (N, K, \\*S) Tensor of float32
        """
        drawn = [] if self.label_stream is None else [self.label_stream(votes, raters, likelihood)]
        if self.has_own_image_stream:
            features = torch.cat([self._image_features(image), *drawn], 1)
        else:
            features = self._image_features(torch.cat([image, *drawn], 1))
        logits = self.head(features).float()
        if self.trust is not None:
            logits = logits + self.trust * torch.log_softmax(likelihood, 1)
        return 1 + torch.exp(logits.clamp(-_LARGEST_LOGIT, _LARGEST_LOGIT))

    def _image_features(self, image: Tensor) -> Tensor:
        return _full_resolution(self.image_stream(image.contiguous(memory_format=self._layout)))


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
        """Map (N, inputs, \\*S) to (N, channels, \\*S)."""
        skipped = []
        features = image
        for level, stage in enumerate(self.down):
            features = stage(features if level == 0 else self.pool(features))
            skipped.append(features)
        for stage, beside in zip(self.up, skipped[-2::-1], strict=True):
            features = stage(torch.cat([self.grow(features), beside], 1))
        return features


class LabelStream(nn.Module):
    """Encodes each rater with shared weights and an embedding, and pools raters by attention.

    The result does not depend on the order of the raters, since outputs are sums over them.
    """

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self.classes = shape.classes
        self.features = max(4, shape.channels // 2)
        self.width = self.features + 2 * shape.classes
        self.encode = convolution(shape.dimension, shape.classes, self.features, 3)
        self.modulate = nn.Embedding(shape.raters + 1, 2 * self.features)
        nn.init.zeros_(self.modulate.weight)
        self.attend = convolution(shape.dimension, self.features, 1, 1)

    def forward(self, votes: Tensor, raters: Tensor, likelihood: Tensor) -> Tensor:
        """Map (N, A, K, \\*S) votes to (N, width, \\*S) features."""
        fractions = votes.sum(1) / votes.sum((1, 2)).clamp(min=1).unsqueeze(1)
        if self.training and votes.shape[1] > _ENCODED_RATERS:
            drawn = torch.randperm(votes.shape[1], device=votes.device)[:_ENCODED_RATERS]
            votes, raters = votes[:, drawn], raters[:, drawn]
        return torch.cat([self._pool(votes, raters), fractions, torch.softmax(likelihood, 1)], 1)

    def _pool(self, votes: Tensor, raters: Tensor) -> Tensor:
        """Return the attention-weighted sum of the raters' features."""
        cases, number = votes.shape[:2]
        present = votes.sum(2, keepdim=True) > 0
        scale, shift = self._modulation(raters, votes.ndim - 3)
        encoded = self.encode(votes.flatten(0, 1))
        encoded = torch.relu(encoded * (1 + scale) + shift)
        scores = self.attend(encoded).reshape(cases, number, 1, *votes.shape[3:])
        scores = scores.masked_fill(~present, -torch.inf)
        # The softmax is NaN where no rater annotated; the features are set to zero there.
        weights = torch.nan_to_num(torch.softmax(scores, 1))
        return (weights * encoded.reshape(cases, number, -1, *votes.shape[3:])).sum(1)

    def _modulation(self, raters: Tensor, dimension: int) -> tuple[Tensor, Tensor]:
        table = self.modulate(raters.flatten())
        scale, shift = table.reshape(*table.shape, *(1,) * dimension).chunk(2, 1)
        return scale, shift


def block(dimension: int, inputs: int, outputs: int) -> nn.Module:
    """Return a block of convolution, batch normalisation and ReLU."""
    norm = nn.BatchNorm2d(outputs) if dimension == 2 else nn.BatchNorm3d(outputs)
    return nn.Sequential(
        convolution(dimension, inputs, outputs, 3, bias=False), norm, nn.ReLU(True)
    )


def convolution(
    dimension: int, inputs: int, outputs: int, side: int, bias: bool = True
) -> nn.Module:
    """Return a convolution that keeps the size."""
    kind: Any = nn.Conv2d if dimension == 2 else nn.Conv3d
    module: nn.Module = kind(inputs, outputs, side, padding=side // 2, bias=bias)
    return module


def check_image_stream(stream: Any, shape: NetworkShape, owner: str) -> StreamSides:
    """Return the side constraints of a custom stream; raise if its output is invalid.

    A stream can declare the constraints by attributes `stride` and `least_size`. Otherwise the
    smallest stride is determined by trial, and the least size is twice the stride, since instance
    normalisation needs more than one value at the coarsest level.
    """
    if not isinstance(stream, nn.Module):
        raise ParameterError(
            f"image_stream must be a torch module, got {stream!r:.80}", owner=owner
        )
    odd = {value.dtype for value in stream.state_dict().values()} - _KEPT_TYPES
    if odd:
        raise ParameterError(
            f"image_stream must hold float32, float64, int64 or uint8 tensors only, which "
            f"can be saved; got {odd.pop()}",
            owner=owner,
        )
    trial = copy.deepcopy(stream).cpu().eval()
    declared = getattr(stream, "stride", None)
    strides = (declared,) if isinstance(declared, int) and declared > 0 else _TRIED_STRIDES
    complaint = ""
    for stride in strides:
        least = getattr(stream, "least_size", None)
        sides = StreamSides(stride, least if isinstance(least, int) else 2 * stride)
        # Also try an odd multiple: a stream may accept even multiples of a smaller stride.
        sizes = {round_up(size, sides) for size in (sides.least, sides.least + stride)}
        complaint = next(
            (text for size in sorted(sizes) if (text := _stream_error(trial, shape, size))), ""
        )
        if not complaint:
            return sides
    raise ParameterError(f"image_stream must {complaint}", owner=owner)


def round_up(side: int, sides: StreamSides) -> int:
    """Return the smallest valid side that is not less than the given one."""
    return -(-max(side, sides.least) // sides.stride) * sides.stride


def _stream_error(stream: nn.Module, shape: NetworkShape, side: int) -> str:
    """Return what is wrong with a stream's output for images with these sides, or ""."""
    space = (side,) * shape.dimension
    try:
        with torch.no_grad():
            features = _full_resolution(stream(torch.zeros(1, shape.inputs, *space)))
        found = (tuple(features.shape), features.dtype)
    except Exception as error:
        return f"take (N, {shape.inputs}, ...) float32 images, it failed: {error}"
    wanted = ((1, shape.channels, *space), torch.float32)
    if found == wanted:
        return ""
    return (
        f"turn {(1, shape.inputs, *space)} into {wanted[0]} float32 features, got {found[0]} "
        f"{found[1]}"
    )


def _full_resolution(features: Any) -> Tensor:
    """Return the features at full resolution: the first ones, if there are several."""
    first: Tensor = features[0] if isinstance(features, (list, tuple)) else features
    return first


def one_hot(labels: Tensor, classes: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Convert (N, A, \\*S) class indices to one-hot (N, A, K, \\*S); all zero if missing."""
    values = torch.arange(classes, dtype=labels.dtype, device=labels.device)
    return (labels.unsqueeze(2) == values.reshape(-1, *(1,) * (labels.ndim - 2))).to(dtype)


def rater_log_likelihood(votes: Tensor, log_rates: Tensor) -> Tensor:
    """Return sum_a log C_a[k, d_a] over the raters that are present.

    Parameters
    ----------
    votes : (N, A, K, \\*S) Tensor
    log_rates : (N, A, K, K) Tensor
        log C[true, drawn] of the rater at each position.

    Returns
    -------
    (N, K, \\*S) Tensor
    """
    drawn = votes.flatten(3).flatten(1, 2)
    table = log_rates.transpose(1, 2).flatten(2)
    return torch.bmm(table, drawn).reshape(-1, votes.shape[2], *votes.shape[3:])
