// Spatial STAPLE's sums over windows and its E-step.
#include <algorithm>
#include <memory>

#include "bindings.hpp"
#include "window_joints_run.hpp"

namespace consensus {

namespace {

template <class T>
using Array = py::array_t<T, py::array::c_style>;

// Keeps the arrays that a frame points into.
class Frame {
 public:
  Frame(const Extents& shape, const Extents& radii, Array<std::uint32_t> places, Array<std::uint32_t> row_begin,
        Array<std::uint32_t> patterns, Array<std::uint16_t> votes, std::size_t labels,
        Array<std::uint32_t> run_places, Array<std::uint32_t> run_lengths, Array<std::uint32_t> run_patterns,
        Array<std::int64_t> run_begin)
      : kept_{places, row_begin, patterns, votes, run_places, run_lengths, run_patterns, run_begin},
        boxes_(6 * labels) {
    require_axes(votes, 2);
    require_extent(patterns, extent_of(places));
    require_extent(row_begin, shape[0] * shape[1] * shape[2] + 1);
    require_extent(run_lengths, extent_of(run_places));
    require_extent(run_patterns, extent_of(run_places));
    require_extent(run_begin, labels + 1);
    frame_ = {shape, radii, places.data(), row_begin.data(), patterns.data(), votes.data(), extent_of(places),
              static_cast<std::size_t>(votes.shape(1)), labels, run_places.data(), run_lengths.data(),
              run_patterns.data(), run_begin.data(), nullptr};
    frame_.boxes = boxes_.data();
    label_boxes(frame_, boxes_.data());
  }

  const WindowFrame& view() const { return frame_; }

 private:
  std::vector<py::array> kept_;
  std::vector<std::int64_t> boxes_;
  WindowFrame frame_{};
};

using LabelArrays = std::pair<Array<std::uint32_t>, Array<float>>;

std::vector<LabelWeights> weights_of(const std::vector<LabelArrays>& arrays) {
  std::vector<LabelWeights> weights;
  for (const auto& [voxels, values] : arrays) {
    require_extent(values, extent_of(voxels));
    weights.push_back({voxels.data(), values.data(), extent_of(voxels)});
  }
  return weights;
}

// A label's joints in one piece; what they were made of is given back piece by piece.
LabelArrays joined(std::vector<LabelJoints>& pieces) {
  std::size_t number = 0;
  for (const LabelJoints& piece : pieces) number += piece.voxels.size();
  Array<std::uint32_t> voxels(static_cast<py::ssize_t>(number));
  Array<float> values(static_cast<py::ssize_t>(number));
  std::uint32_t* voxel = voxels.mutable_data();
  float* value = values.mutable_data();
  for (LabelJoints& piece : pieces) {
    voxel = std::copy(piece.voxels.begin(), piece.voxels.end(), voxel);
    value = std::copy(piece.log_joints.begin(), piece.log_joints.end(), value);
    piece = {};
  }
  return {voxels, values};
}

Array<float> run_annotated(const Frame& frame, std::size_t rater, std::size_t threads) {
  Array<float> out(static_cast<py::ssize_t>(frame.view().number));
  auto* values = out.mutable_data();
  py::gil_scoped_release release;
  annotated_in_windows(frame.view(), rater, threads, values);
  return out;
}

void run_scale_factors(const Frame& frame, std::size_t rater, const Array<float>& seen, double kappa,
                       Array<float> said, Array<float> sum, std::size_t threads) {
  const std::size_t number = frame.view().number;
  for (const auto& array : {seen, said, sum}) require_extent(array, number);
  const auto* counts = seen.data();
  auto* own = said.mutable_data();
  auto* all = sum.mutable_data();
  py::gil_scoped_release release;
  scale_factors(frame.view(), rater, counts, kappa, threads, own, all);
}

std::vector<LabelArrays> run_joints(const Frame& frame, const std::vector<std::size_t>& labels,
                                    const std::vector<LabelArrays>& posterior, double kappa,
                                    const Array<double>& targets, const Array<double>& alpha,
                                    const std::optional<Array<double>>& log_prior, const Array<std::uint8_t>& gaps,
                                    const Array<float>& annotated, const Array<float>& seen,
                                    const Array<float>& sigma_said, const Array<float>& sigma_sum, bool mixed_target,
                                    double least, unsigned shift, const Array<float>& peaks, float cut,
                                    std::size_t threads) {
  const WindowFrame& view = frame.view();
  const std::size_t square = view.labels * view.labels;
  require_extent(targets, view.raters * square);
  require_extent(alpha, square);
  require_extent(gaps, view.raters);
  require_extent(annotated, view.number);
  require_extent(peaks, view.number);
  for (const auto& array : {sigma_said, sigma_sum}) require_extent(array, view.raters * view.number);
  if (labels.size() != posterior.size()) throw std::invalid_argument("one posterior per label wanted");
  const PerformanceModel model{kappa, targets.data(), alpha.data(), pointer_or_null(log_prior, view.labels),
                               gaps.data(), annotated.data(), seen.data(), sigma_said.data(), sigma_sum.data(),
                               mixed_target, least, shift};
  const auto weights = weights_of(posterior);
  const auto* known = peaks.data();
  std::vector<std::vector<LabelJoints>> found;
  {
    py::gil_scoped_release release;
    found = joints_of_labels(view, model, labels, weights, known, cut, threads);
  }
  std::vector<LabelArrays> arrays;
  for (auto& pieces : found) arrays.push_back(joined(pieces));
  return arrays;
}

std::pair<double, double> run_normalise(std::size_t number, const std::vector<LabelArrays>& joints,
                                        const std::vector<LabelArrays>& before, float least, std::size_t threads) {
  if (joints.size() != before.size()) throw std::invalid_argument("equally many labels wanted");
  const auto now = weights_of(joints), earlier = weights_of(before);
  std::vector<float*> out;
  for (const auto& [voxels, values] : joints) {
    (void)voxels;
    out.push_back(const_cast<float*>(values.data()));
  }
  py::gil_scoped_release release;
  const StepSums sums = normalise_joints(number, now, out, earlier, least, threads);
  return {sums.evidence, sums.moved};
}

}  // namespace

void bind_windows(py::module_& m) {
  py::class_<Frame>(m, "WindowFrame")
      .def(py::init<const Extents&, const Extents&, Array<std::uint32_t>, Array<std::uint32_t>, Array<std::uint32_t>,
                    Array<std::uint16_t>, std::size_t, Array<std::uint32_t>, Array<std::uint32_t>,
                    Array<std::uint32_t>, Array<std::int64_t>>(),
           py::arg("shape"), py::arg("radii"), py::arg("places"), py::arg("row_begin"), py::arg("patterns"),
           py::arg("votes"), py::arg("labels"), py::arg("run_places"), py::arg("run_lengths"),
           py::arg("run_patterns"), py::arg("run_begin"));
  m.def("annotated_in_windows", &run_annotated, py::arg("frame"), py::arg("rater"), py::arg("threads"));
  m.def("window_scale_factors", &run_scale_factors, py::arg("frame"), py::arg("rater"), py::arg("seen"),
        py::arg("kappa"), py::arg("said"), py::arg("sum"), py::arg("threads"));
  m.def("window_joints", &run_joints, py::arg("frame"), py::arg("labels"), py::arg("posterior"), py::arg("kappa"),
        py::arg("targets"), py::arg("alpha"), py::arg("log_prior"), py::arg("gaps"), py::arg("annotated"),
        py::arg("seen"), py::arg("sigma_said"), py::arg("sigma_sum"), py::arg("mixed_target"), py::arg("least"),
        py::arg("shift"), py::arg("peaks"), py::arg("cut"), py::arg("threads"));
  m.def("normalise_joints", &run_normalise, py::arg("number"), py::arg("joints"), py::arg("before"),
        py::arg("least"), py::arg("threads"));
}

}  // namespace consensus
