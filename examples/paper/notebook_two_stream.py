"""The paper's two-stream network (sections 2.7 and 4.6), for Table 5 only.

Its reliabilities rho are not identifiable: scaling one of them and, inversely, the weights of the
next convolution does not change the output. The package instead reports an accuracy that is a
parameter of the likelihood, and its loss is Sensoy's, not the printed one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from itk_consensus.deep.objective import expected_cross_entropy, kl_to_uniform

CHANNELS = 16
EMBEDDING = 8
KL_WEIGHT = 0.01
LEARNING_RATE = 3e-3
BATCH_SIZE = 16


class TwoStreamNet(nn.Module):
    """Network with an image stream, a reliability-weighted label stream, and a decoder whose
    softplus head gives Dirichlet concentrations.
    """

    def __init__(self, raters: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(raters, EMBEDDING))
        self.reliability = nn.Sequential(nn.Linear(EMBEDDING, CHANNELS), nn.ReLU())
        self.reliability.append(nn.Linear(CHANNELS, 1))
        self.image_stream = _stream(1)
        self.label_stream = _stream(raters)
        self.decoder = nn.Sequential(
            nn.Conv2d(2 * CHANNELS, CHANNELS, 3, padding=1), nn.ReLU(), nn.Conv2d(CHANNELS, 2, 1)
        )

    def rho(self) -> Tensor:
        """Return the (A,) reliabilities of the raters, between 0 and 1."""
        return torch.sigmoid(self.reliability(self.embedding)).squeeze(1)

    def forward(self, images: Tensor, masks: Tensor) -> Tensor:
        """Map (N, 1, H, W) images and (N, A, H, W) masks to (N, 2, H, W) concentrations."""
        weighted = self.rho()[:, None, None] * masks
        features = torch.cat([self.image_stream(images), self.label_stream(weighted)], 1)
        return 1 + nn.functional.softplus(self.decoder(features))


def train(
    images: NDArray[np.float32],
    masks: NDArray[np.float32],
    truths: NDArray[np.int64],
    epochs: int,
    seed: int,
    after_epoch: Callable[[TwoStreamNet, float], None] = lambda net, loss: None,
) -> TwoStreamNet:
    """Minimise the printed loss on (N, 1, H, W) images, (N, A, H, W) masks and (N, H, W) true
    masks.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = TwoStreamNet(masks.shape[1])
    optimizer = torch.optim.Adam(net.parameters(), LEARNING_RATE)
    rng = np.random.default_rng(seed)
    for _ in range(epochs):
        losses = []
        for rows in np.array_split(rng.permutation(len(images)), len(images) // BATCH_SIZE):
            alpha = net(torch.from_numpy(images[rows]), torch.from_numpy(masks[rows]))
            truth = torch.from_numpy(truths[rows])
            target = nn.functional.one_hot(truth, 2).movedim(-1, 1).float()
            loss = expected_cross_entropy(alpha, target) + KL_WEIGHT * kl_to_uniform(alpha)
            optimizer.zero_grad()
            loss.mean().backward()
            optimizer.step()
            losses.append(float(loss.detach().mean()))
        after_epoch(net, sum(losses) / len(losses))
    return net


def segment(
    net: TwoStreamNet, images: NDArray[np.float32], masks: NDArray[np.float32]
) -> NDArray[np.bool_]:
    """Return foreground where its concentration exceeds the background's."""
    with torch.no_grad():
        alpha = net(torch.from_numpy(images), torch.from_numpy(masks))
    return np.asarray((alpha[:, 1] > alpha[:, 0]).numpy())


def _stream(inputs: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(inputs, CHANNELS, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1),
        nn.ReLU(),
    )
