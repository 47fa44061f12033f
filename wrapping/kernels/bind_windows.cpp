// Bindings of window sums: an EM iteration of Spatial STAPLE, and the similarity of Boundary SIMPLE.
#include <memory>
#include <variant>

#include "bindings.hpp"
#include "patch_similarity.hpp"
#include "window_joints.hpp"

namespace consensus {

namespace {

template <class F>
auto with_vote_type(const Array& votes, F f) {
  if (votes.type() == element_type<std::uint8_t>()) return f(Tag<std::uint8_t>{});
  if (votes.type() == element_type<std::uint16_t>()) return f(Tag<std::uint16_t>{});
  throw std::invalid_argument("votes must be uint8 or uint16");
}

using Mentions = std::pair<ArrayOf<std::uint32_t>, ArrayOf<std::int64_t>>;

// Returns, label by label, the voxels to which any rater gave the label, and the start of each
// label's list.
Mentions run_mentions(const ArrayOf<std::uint32_t>& patterns, const Array& votes, std::size_t labels) {
  require_axes(votes, 2);
  require_extent(votes, votes.shape(0) * votes.shape(1));
  return with_vote_type(votes, [&](auto tag) {
    using Vote = typename decltype(tag)::type;
    const auto for_each = [&](auto say) {
      for_each_mention(patterns.data(), extent_of(patterns), static_cast<const Vote*>(votes.data()), votes.shape(1), labels, say);
    };
    std::vector<std::int64_t> ends(labels + 1, 0);
    {
      nb::gil_scoped_release release;
      for_each([&](std::size_t label, std::size_t) { ++ends[label + 1]; });
    }
    ArrayOf<std::int64_t> begin(labels + 1);
    std::partial_sum(ends.begin(), ends.end(), begin.mutable_data());
    ArrayOf<std::uint32_t> voxels(static_cast<std::size_t>(begin.data()[labels]));
    std::vector<std::int64_t> next(begin.data(), begin.data() + labels);
    auto* out = voxels.mutable_data();
    nb::gil_scoped_release release;
    for_each([&](std::size_t label, std::size_t voxel) { out[next[label]++] = static_cast<std::uint32_t>(voxel); });
    return Mentions(voxels, begin);
  });
}

// Owns the arrays that a frame points into.
class Frame {
 public:
  Frame(const Extents& shape, const Extents& radii, ArrayOf<std::uint32_t> places, ArrayOf<std::uint32_t> row_begin,
        ArrayOf<std::uint32_t> patterns, Array votes, std::size_t labels, bool gaps,
        ArrayOf<std::uint32_t> run_places, ArrayOf<std::uint32_t> run_lengths, ArrayOf<std::uint32_t> run_patterns,
        ArrayOf<std::int64_t> run_begin, ArrayOf<std::uint32_t> mentions, ArrayOf<std::int64_t> mention_begin)
      : kept_{places, row_begin, patterns, votes, run_places, run_lengths, run_patterns, run_begin, mentions, mention_begin} {
    require_axes(votes, 2);
    require_extent(votes, votes.shape(0) * votes.shape(1));
    require_extent(patterns, extent_of(places));
    require_extent(row_begin, shape[0] * shape[1] * shape[2] + 1);
    require_extent(run_lengths, extent_of(run_places));
    require_extent(run_patterns, extent_of(run_places));
    require_extent(run_begin, labels + 1);
    require_extent(mention_begin, labels + 1);
    require_extent(mentions, static_cast<std::size_t>(mention_begin.data()[labels]));
    with_vote_type(votes, [&](auto tag) {
      using Vote = typename decltype(tag)::type;
      WindowFrame<Vote> frame{shape, radii, places.data(), row_begin.data(), patterns.data(),
                              static_cast<const Vote*>(votes.data()), extent_of(places), votes.shape(1), labels, gaps,
                              run_places.data(), run_lengths.data(), run_patterns.data(), run_begin.data(),
                              mentions.data(), mention_begin.data(), {}, {}};
      frame.boxes = label_boxes(frame);
      frame.agreed = runs_by_place(frame);
      frame_ = std::move(frame);
    });
  }

  template <class F>
  auto visit(F f) const { return std::visit(f, frame_); }

 private:
  std::vector<Array> kept_;
  std::variant<WindowFrame<std::uint8_t>, WindowFrame<std::uint16_t>> frame_;
};

// (volume, first plane, end plane)
using Planes = std::array<std::size_t, 3>;

template <class Vote>
Box box_of(const WindowFrame<Vote>& frame, const Planes& planes) {
  const auto& [volume, low, high] = planes;
  if (volume >= frame.shape[0] || low >= high || high > frame.shape[1]) throw std::invalid_argument("no such planes");
  return {{volume, low, 0, 0}, {volume + 1, high, frame.shape[2], frame.shape[3]}};
}

template <class Real, class Vote>
WindowCounts<Real> counts_in(const WindowFrame<Vote>& frame, const Box& part, const ArrayOf<float>& seen,
                             const ArrayOf<float>& said, Real* to_seen, Real* to_said) {
  const auto [first, last] = frame.voxels_of(part);
  require_extent(seen, (last - first) * frame.annotators());
  require_extent(said, frame.labels == 2 ? (last - first) * frame.raters : 0);
  return {first, last - first, to_seen, to_said};
}

void run_counts(const Frame& kept, const Planes& planes, ArrayOf<float> seen, ArrayOf<float> said, std::size_t threads) {
  kept.visit([&](const auto& frame) {
    const Box part = box_of(frame, planes);
    const auto out = counts_in(frame, part, seen, said, seen.mutable_data(), said.mutable_data());
    nb::gil_scoped_release release;
    find_counts(frame, part, threads, out);
  });
}

void run_joints(const Frame& kept, const Planes& planes, const ArrayOf<float>& posterior, double kappa,
                const ArrayOf<float>& seen, const ArrayOf<float>& said,
                const ArrayOf<double>& targets, const std::pair<double, double>& pseudo_counts,
                const std::optional<ArrayOf<double>>& log_prior, double least, unsigned shift, ArrayOf<float> joints, std::size_t threads) {
  kept.visit([&](const auto& frame) {
    require_extent(targets, frame.raters * frame.labels * frame.labels);
    for (const auto& array : {posterior, joints}) require_extent(array, static_cast<std::size_t>(frame.mention_begin[frame.labels]));
    const PerformanceModel model{kappa, targets.data(), pseudo_counts.first, pseudo_counts.second,
                                 pointer_or_null(log_prior, frame.labels), least, shift};
    const Box part = box_of(frame, planes);
    const auto counts = counts_in(frame, part, seen, said, seen.data(), said.data());
    float* out = joints.mutable_data();
    nb::gil_scoped_release release;
    joints_of_labels(frame, model, part, counts, posterior.data(), out, threads);
  });
}

std::pair<double, double> run_normalise(const Frame& kept, const ArrayOf<float>& before, ArrayOf<float> joints, float least,
                                        std::size_t threads) {
  return kept.visit([&](const auto& frame) {
    for (const auto& array : {before, joints}) require_extent(array, static_cast<std::size_t>(frame.mention_begin[frame.labels]));
    float* out = joints.mutable_data();
    nb::gil_scoped_release release;
    const StepSums sums = normalise_joints(frame, before.data(), out, least, threads);
    return std::pair<double, double>(sums.evidence, sums.moved);
  });
}

void run_similarity(const Frame& kept, const Planes& planes, const ArrayOf<double>& shares, unsigned shift,
                    ArrayOf<double> similarity, std::size_t threads) {
  kept.visit([&](const auto& frame) {
    const Box part = box_of(frame, planes);
    const auto [first, last] = frame.voxels_of(part);
    require_extent(shares, static_cast<std::size_t>(frame.mention_begin[frame.labels]));
    require_extent(similarity, (last - first) * frame.raters);
    double* out = similarity.mutable_data();
    nb::gil_scoped_release release;
    find_similarity(frame, part, shares.data(), shift, threads, out);
  });
}

void run_add_votes(const Frame& kept, const Planes& planes, const ArrayOf<double>& weights, ArrayOf<double> votes,
                   std::size_t threads) {
  kept.visit([&](const auto& frame) {
    const Box part = box_of(frame, planes);
    const auto [first, last] = frame.voxels_of(part);
    require_extent(weights, (last - first) * frame.raters);
    require_extent(votes, static_cast<std::size_t>(frame.mention_begin[frame.labels]));
    double* out = votes.mutable_data();
    nb::gil_scoped_release release;
    add_votes(frame, part, weights.data(), threads, out);
  });
}

}  // namespace

void bind_windows(nb::module_& m) {
  m.def("label_mentions", &run_mentions, nb::arg("patterns"), nb::arg("votes"), nb::arg("labels"));
  nb::class_<Frame>(m, "WindowFrame")
      .def(nb::init<const Extents&, const Extents&, ArrayOf<std::uint32_t>, ArrayOf<std::uint32_t>, ArrayOf<std::uint32_t>,
                    Array, std::size_t, bool, ArrayOf<std::uint32_t>, ArrayOf<std::uint32_t>,
                    ArrayOf<std::uint32_t>, ArrayOf<std::int64_t>, ArrayOf<std::uint32_t>, ArrayOf<std::int64_t>>(),
           nb::arg("shape"), nb::arg("radii"), nb::arg("places"), nb::arg("row_begin"), nb::arg("patterns"),
           nb::arg("votes"), nb::arg("labels"), nb::arg("gaps"), nb::arg("run_places"), nb::arg("run_lengths"),
           nb::arg("run_patterns"), nb::arg("run_begin"), nb::arg("mentions"), nb::arg("mention_begin"));
  m.def("window_counts", &run_counts, nb::arg("frame"), nb::arg("planes"), nb::arg("seen"), nb::arg("said"),
        nb::arg("threads"));
  m.def("window_joints", &run_joints, nb::arg("frame"), nb::arg("planes"), nb::arg("posterior"), nb::arg("kappa"),
        nb::arg("seen"), nb::arg("said"), nb::arg("targets"),
        nb::arg("pseudo_counts"), nb::arg("log_prior"), nb::arg("least"), nb::arg("shift"), nb::arg("joints"), nb::arg("threads"));
  m.def("normalise_joints", &run_normalise, nb::arg("frame"), nb::arg("before"), nb::arg("joints"), nb::arg("least"),
        nb::arg("threads"));
  m.def("patch_similarity", &run_similarity, nb::arg("frame"), nb::arg("planes"), nb::arg("shares"), nb::arg("shift"),
        nb::arg("similarity"), nb::arg("threads"));
  m.def("add_votes", &run_add_votes, nb::arg("frame"), nb::arg("planes"), nb::arg("weights"), nb::arg("votes"),
        nb::arg("threads"));
}

}  // namespace consensus
