"""Custom image streams, images with several channels, and devices."""

from __future__ import annotations

import importlib
import warnings

import numpy as np
import pytest
import SimpleITK as sitk
from cohort_lists import QUICK, image_list, label_lists

torch = pytest.importorskip("torch")

from itk_consensus.core.errors import InputError, ParameterError  # noqa: E402
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter  # noqa: E402
from itk_consensus.deep.model import ConsensusModel, find_device, precision  # noqa: E402
from itk_consensus.deep.network import NetworkShape, check_image_stream  # noqa: E402
from itk_consensus.deep.persistence import pack_model, unpack_model  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")
BRIEF = {**QUICK, "NumberOfIterations": 2, "BatchSize": 2}


class Plain(torch.nn.Module):
    """An image stream without downsampling."""

    def __init__(self, inputs=1):
        super().__init__()
        self.layer = torch.nn.Conv2d(inputs, 4, 3, padding=1)

    def forward(self, image):
        return torch.relu(self.layer(image))


def monai_network(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nets = pytest.importorskip("monai.networks.nets")
    common = {"spatial_dims": 2, "in_channels": 1, "out_channels": 4}
    if name == "UNet":
        return nets.UNet(**common, channels=(4, 4, 8, 8), strides=(2, 2, 2))
    if name == "BasicUNet":
        return nets.BasicUNet(**common, features=(4, 4, 4, 8, 8, 4))
    return nets.SegResNet(**common, init_filters=8, blocks_down=(1, 1, 1), blocks_up=(1, 1))


STREAMS = {
    "plain": (Plain, 4),
    "UNet": (lambda: monai_network("UNet"), 8),
    "BasicUNet": (lambda: monai_network("BasicUNet"), 16),
    "SegResNet": (lambda: monai_network("SegResNet"), 4),
}


@pytest.mark.parametrize("name", STREAMS)
def test_networks_of_other_libraries_train_run_and_are_saved(name, cohort, tmp_path):
    make, stride = STREAMS[name]
    stream = make()
    filter_ = DeepConsensusFilter(**BRIEF)
    filter_.Fit(image_list(cohort), label_lists(cohort), image_stream=stream)
    assert filter_._model.network.sides.stride == stride
    # 24 x 28 and 24 x 25 are not multiples of the strides.
    whole = filter_.Execute(cohort.images[0, 0], label_lists(cohort)[0])
    assert whole.shape == (24, 28)
    filter_.Execute(cohort.images[0, 0, :, :25], [d[:, :25] for d in label_lists(cohort)[0]])
    before = filter_.GetProbabilityImage(1)
    filter_.Save(tmp_path / "own.model")
    loaded = DeepConsensusFilter.Load(tmp_path / "own.model", image_stream=make())
    loaded.SetNumberOfThreads(1)
    loaded.SetWithoutGain("network")
    loaded.Execute(cohort.images[0, 0, :, :25], [d[:, :25] for d in label_lists(cohort)[0]])
    np.testing.assert_array_equal(loaded.GetProbabilityImage(1), before)


def test_a_stream_may_say_what_it_wants():
    stream = Plain()
    stream.stride, stream.least_size = 6, 18
    assert check_image_stream(stream, NetworkShape(2, 2, 3, 4, True), "any") == (6, 18)


def test_a_stream_that_gives_several_resolutions_is_taken_at_the_finest():
    class Deep(Plain):
        def forward(self, image):
            features = super().forward(image)
            return [features, features[..., ::2, ::2]]

    assert check_image_stream(Deep(), NetworkShape(2, 2, 3, 4, True), "any").stride == 4


def test_a_stream_that_no_side_suits_is_refused_with_its_own_words():
    class Picky(Plain):
        def forward(self, image):
            raise RuntimeError("never")

    with pytest.raises(ParameterError, match=r"image_stream must take .*never"):
        check_image_stream(Picky(), NetworkShape(2, 2, 3, 4, True), "any")


@pytest.mark.parametrize("stream", [None, "plain"])
def test_colour_images_have_a_channel_for_each_component(cohort, stream):
    colours = [
        sitk.Compose([sitk.GetImageFromArray(image * sign) for sign in (1, -1, 0.5)])
        for image in image_list(cohort)
    ]
    drawn = [[sitk.GetImageFromArray(d) for d in labels] for labels in label_lists(cohort)]
    filter_ = DeepConsensusFilter(**BRIEF)
    filter_.Fit(colours, drawn, image_stream=Plain(3) if stream else None)
    fused = filter_.Execute(colours[0], drawn[0])
    assert fused.GetSize() == (28, 24)
    assert filter_._model.network.shape.inputs == 3
    with pytest.raises(InputError, match="2D images with 3 channels, got 2D"):
        filter_.Execute(sitk.VectorIndexSelectionCast(colours[0], 0), drawn[0])
    with pytest.raises(InputError, match="one number of channels"):
        filter_.Fit([sitk.VectorIndexSelectionCast(colours[0], 0), colours[1]], drawn[:2])


def test_models_of_several_channels_are_saved():
    shape = NetworkShape(2, 2, 1, 4, True, 3)
    model = ConsensusModel.untrained(shape, "truth", (0, 1), (1,), 0)
    assert unpack_model(pack_model(model), "any").network.shape == shape


# -- devices ---------------------------------------------------------------------------------


def test_devices_may_be_numbered_and_must_be_there(monkeypatch):
    assert DeepConsensusFilter(Device="CUDA:1").GetDevice() == "cuda:1"
    with pytest.raises(ParameterError, match="Device must be"):
        DeepConsensusFilter(Device="cuda:first")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert find_device("cuda:1", "any") == torch.device("cuda:1")
    assert find_device("auto", "any") == torch.device("cuda")
    with pytest.raises(ParameterError, match=r"\(cpu, cuda:0, cuda:1.*got cuda:2"):
        find_device("cuda:2", "any")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ParameterError, match="got cuda:0"):
        find_device("cuda:0", "any")


@pytest.mark.parametrize(("capability", "lower"), [((7, 5), False), ((8, 0), True), ((9, 0), True)])
def test_bfloat16_is_used_only_where_it_is_native(monkeypatch, capability, lower):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: capability)
    asked = []
    monkeypatch.setattr(torch, "autocast", lambda *given: asked.append(given))
    precision(torch.device("cuda:1"), True)
    precision(torch.device("cuda:1"), False)
    precision(torch.device("cpu"), True)
    assert asked == ([("cuda", torch.bfloat16)] if lower else [])


def test_the_network_computes_shapes_without_memory_on_the_meta_device():
    shape = NetworkShape(3, 3, 5, 4, True, 2)
    with torch.device("meta"):
        network = importlib.import_module("itk_consensus.deep.network").ConsensusNetwork(shape)
        image, votes = torch.empty(2, 2, 64, 64, 64), torch.empty(2, 5, 3, 64, 64, 64)
        alpha = network(image, votes, torch.empty(2, 5, dtype=torch.int64), votes[:, 0])
    assert alpha.device.type == "meta"
    assert alpha.shape == (2, 3, 64, 64, 64)
