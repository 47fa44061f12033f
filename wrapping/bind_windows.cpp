// Spatial STAPLE's sums over windows and its E-step.
#include <algorithm>
#include <memory>

#include "bindings.hpp"
#include "window_joints_run.hpp"

namespace consensus {

namespace {

template <class T>
const T* pointer_if(const Array& array) {
  return array.type() == element_type<T>() ? static_cast<const T*>(array.data()) : nullptr;
}

// Keeps the arrays that a frame points into.
class Frame {
 public:
  Frame(const Extents& shape, const Extents& radii, ArrayOf<std::uint32_t> places, ArrayOf<std::uint32_t> row_begin,
        ArrayOf<std::uint32_t> patterns, Array votes, std::size_t labels,
        ArrayOf<std::uint32_t> run_places, ArrayOf<std::uint32_t> run_lengths, ArrayOf<std::uint32_t> run_patterns,
        ArrayOf<std::int64_t> run_begin)
      : kept_{places, row_begin, patterns, votes, run_places, run_lengths, run_patterns, run_begin},
        boxes_(6 * labels) {
    require_axes(votes, 2);
    require_extent(votes, votes.shape(0) * votes.shape(1));
    require_extent(patterns, extent_of(places));
    require_extent(row_begin, shape[0] * shape[1] * shape[2] + 1);
    require_extent(run_lengths, extent_of(run_places));
    require_extent(run_patterns, extent_of(run_places));
    require_extent(run_begin, labels + 1);
    frame_ = {shape, radii, places.data(), row_begin.data(), patterns.data(), pointer_if<std::uint8_t>(votes),
              pointer_if<std::uint16_t>(votes), extent_of(places), votes.shape(1), labels, run_places.data(), run_lengths.data(),
              run_patterns.data(), run_begin.data(), nullptr};
    if (frame_.narrow == nullptr && frame_.wide == nullptr) throw std::invalid_argument("votes must be uint8 or uint16");
    frame_.boxes = boxes_.data();
    label_boxes(frame_, boxes_.data());
  }

  const WindowFrame& view() const { return frame_; }

 private:
  std::vector<Array> kept_;
  std::vector<std::int64_t> boxes_;
  WindowFrame frame_{};
};

// First and last voxel, the last exclusive, of each part.
std::vector<std::pair<std::size_t, std::size_t>> ends_of(const WindowFrame& view, const std::vector<Part>& parts) {
  std::vector<std::pair<std::size_t, std::size_t>> ends;
  for (const Part& part : parts) ends.push_back(voxels_of_part(view, part));
  return ends;
}

using LabelArrays = std::pair<ArrayOf<std::uint32_t>, ArrayOf<float>>;

LabelWeights weights_of(const LabelArrays& arrays) {
  const auto& [voxels, values] = arrays;
  require_extent(values, extent_of(voxels));
  return {voxels.data(), values.data(), extent_of(voxels)};
}

std::vector<LabelWeights> weights_of(const std::vector<LabelArrays>& arrays) {
  std::vector<LabelWeights> weights;
  for (const LabelArrays& of : arrays) weights.push_back(weights_of(of));
  return weights;
}

// A label's joints, in pieces, as arrays; what they were made of is given back.
LabelArrays arrays_of(std::vector<LabelJoints>& pieces) {
  std::size_t number = 0;
  for (const LabelJoints& piece : pieces) number += piece.voxels.size();
  ArrayOf<std::uint32_t> voxels(number);
  ArrayOf<float> values(number);
  auto* to_voxels = voxels.mutable_data();
  auto* to_values = values.mutable_data();
  for (const LabelJoints& piece : pieces) {
    to_voxels = std::copy(piece.voxels.begin(), piece.voxels.end(), to_voxels);
    to_values = std::copy(piece.log_joints.begin(), piece.log_joints.end(), to_values);
  }
  pieces = {};
  return {voxels, values};
}

// Of an array (1 + J, n), or (1, n) if no rater has gaps, for the voxels of a piece.
template <class Real>
SeenInWindows<Real> seen_in(const WindowFrame& view, const Part& piece, const ArrayOf<std::uint8_t>& gaps,
                            const ArrayOf<float>& seen, Real* counts) {
  require_extent(gaps, view.raters);
  const auto* flags = gaps.data();
  const bool used = std::any_of(flags, flags + view.raters, [](std::uint8_t flag) { return flag != 0; });
  const auto [first, last] = voxels_of_part(view, piece);
  require_extent(seen, (used ? view.raters + 1 : 1) * (last - first));
  return {flags, first, last - first, counts};
}

void run_annotated(const Frame& frame, std::size_t part, std::size_t piece, const ArrayOf<std::uint8_t>& gaps,
                   ArrayOf<float> seen, std::size_t threads) {
  const WindowFrame& view = frame.view();
  const Part within = pieces_of_part(view, part).at(piece);
  const auto out = seen_in(view, within, gaps, seen, seen.mutable_data());
  nb::gil_scoped_release release;
  find_annotated(view, within, threads, out);
}

// Of arrays (J, n) for the voxels of a piece.
template <class Real>
ScaleFactors<Real> scale_factors_in(const WindowFrame& view, const Part& part, const ArrayOf<float>& said,
                                    const ArrayOf<float>& sum, Real* to_said, Real* to_sum) {
  const auto [first, last] = voxels_of_part(view, part);
  for (const auto& array : {said, sum}) require_extent(array, view.raters * (last - first));
  return {first, last - first, to_said, to_sum};
}

void run_scale_factors(const Frame& frame, std::size_t part, std::size_t piece, double kappa, const ArrayOf<std::uint8_t>& gaps,
                       const ArrayOf<float>& seen, ArrayOf<float> said, ArrayOf<float> sum, std::size_t threads) {
  const WindowFrame& view = frame.view();
  const Part within = pieces_of_part(view, part).at(piece);
  const auto annotated = seen_in(view, within, gaps, seen, seen.data());
  const auto out = scale_factors_in(view, within, said, sum, said.mutable_data(), sum.mutable_data());
  nb::gil_scoped_release release;
  find_scale_factors(view, annotated, kappa, within, threads, out);
}

std::vector<LabelArrays> run_joints(const Frame& frame, std::size_t part, std::size_t piece,
                                    const std::vector<std::vector<LabelArrays>>& posterior, double kappa,
                                    const ArrayOf<double>& targets, const ArrayOf<double>& alpha,
                                    const std::optional<ArrayOf<double>>& log_prior, const ArrayOf<std::uint8_t>& gaps,
                                    const ArrayOf<float>& seen, const ArrayOf<float>& sigma_said, const ArrayOf<float>& sigma_sum, bool mixed_target,
                                    double least, unsigned shift, float cut, std::size_t threads) {
  const WindowFrame& view = frame.view();
  const std::size_t square = view.labels * view.labels;
  require_extent(targets, view.raters * square);
  require_extent(alpha, square);
  const Part within = pieces_of_part(view, part).at(piece);
  const PerformanceModel model{kappa, targets.data(), alpha.data(), pointer_or_null(log_prior, view.labels),
                               seen_in(view, within, gaps, seen, seen.data()), mixed_target, least, shift};
  std::vector<WeightsInParts> weights(view.labels);
  for (const auto& labels : posterior) {
    if (labels.size() != view.labels) throw std::invalid_argument("a posterior of every label wanted");
    for (std::size_t label = 0; label < view.labels; ++label) weights[label].push_back(weights_of(labels[label]));
  }
  const auto sigmas = scale_factors_in(view, within, sigma_said, sigma_sum, sigma_said.data(), sigma_sum.data());
  std::vector<std::vector<LabelJoints>> found;
  {
    nb::gil_scoped_release release;
    found = joints_of_labels(view, model, within, sigmas, weights, cut, threads);
  }
  std::vector<LabelArrays> arrays;
  for (auto& pieces : found) arrays.push_back(arrays_of(pieces));
  return arrays;
}

std::pair<double, double> run_normalise(std::size_t first, std::size_t number, const std::vector<LabelArrays>& joints,
                                        const std::vector<LabelArrays>& before, float least, std::size_t threads) {
  if (joints.size() != before.size()) throw std::invalid_argument("equally many labels wanted");
  const auto now = weights_of(joints), earlier = weights_of(before);
  std::vector<float*> out;
  for (const auto& [voxels, values] : joints) {
    (void)voxels;
    out.push_back(const_cast<float*>(values.data()));
  }
  nb::gil_scoped_release release;
  const StepSums sums = normalise_joints(first, number, now, out, earlier, least, threads);
  return {sums.evidence, sums.moved};
}

}  // namespace

void bind_windows(nb::module_& m) {
  nb::class_<Frame>(m, "WindowFrame")
      .def(nb::init<const Extents&, const Extents&, ArrayOf<std::uint32_t>, ArrayOf<std::uint32_t>, ArrayOf<std::uint32_t>,
                    Array, std::size_t, ArrayOf<std::uint32_t>, ArrayOf<std::uint32_t>,
                    ArrayOf<std::uint32_t>, ArrayOf<std::int64_t>>(),
           nb::arg("shape"), nb::arg("radii"), nb::arg("places"), nb::arg("row_begin"), nb::arg("patterns"),
           nb::arg("votes"), nb::arg("labels"), nb::arg("run_places"), nb::arg("run_lengths"),
           nb::arg("run_patterns"), nb::arg("run_begin"))
      .def("parts", [](const Frame& frame) { return ends_of(frame.view(), parts_of(frame.view())); })
      .def("pieces", [](const Frame& frame, std::size_t part) {
        return ends_of(frame.view(), pieces_of_part(frame.view(), part));
      }, nb::arg("part"));
  m.def("annotated_in_windows", &run_annotated, nb::arg("frame"), nb::arg("part"), nb::arg("piece"), nb::arg("gaps"),
        nb::arg("seen"), nb::arg("threads"));
  m.def("window_scale_factors", &run_scale_factors, nb::arg("frame"), nb::arg("part"), nb::arg("piece"), nb::arg("kappa"),
        nb::arg("gaps"), nb::arg("seen"), nb::arg("said"), nb::arg("sum"), nb::arg("threads"));
  m.def("window_joints", &run_joints, nb::arg("frame"), nb::arg("part"), nb::arg("piece"), nb::arg("posterior"), nb::arg("kappa"),
        nb::arg("targets"), nb::arg("alpha"), nb::arg("log_prior"), nb::arg("gaps"),
        nb::arg("seen"), nb::arg("sigma_said"), nb::arg("sigma_sum"), nb::arg("mixed_target"), nb::arg("least"),
        nb::arg("shift"), nb::arg("cut"), nb::arg("threads"));
  m.def("normalise_joints", &run_normalise, nb::arg("first"), nb::arg("number"), nb::arg("joints"), nb::arg("before"),
        nb::arg("least"), nb::arg("threads"));
}

}  // namespace consensus
