// Runs over a window frame: threads over parts of it, and what is made of all labels' joints.
//
// Preconditions (checked in Python): as in window_sums.hpp and window_joints.hpp; voxels of a label
// ascend and are below N.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "window_joints.hpp"

namespace consensus {

// Planes of a part, at least: a window must not reach beyond the parts beside it. With more of them
// fewer sources are read twice, but a worker's arrays are as large as a part.
constexpr std::size_t kPlanesOfPart = 16;

inline std::vector<Part> parts_of(const WindowFrame& frame) {
  const std::size_t planes = std::max(kPlanesOfPart, frame.radii[1]);
  std::vector<Part> parts;
  for (std::size_t volume = 0; volume < frame.shape[0]; ++volume) {
    for (std::size_t z = 0; z < frame.shape[1]; z += planes) {
      parts.push_back({volume, {z, 0, 0}, {std::min(frame.shape[1], z + planes), frame.shape[2], frame.shape[3]}});
    }
  }
  return parts;
}

// Calls work(worker, task); threads take the next task when they are done with one.
template <class MakeWorker, class Work>
void for_each_task(std::size_t tasks, std::size_t threads, MakeWorker make, Work work) {
  const std::size_t workers = std::max<std::size_t>(1, std::min(threads, tasks));
  std::atomic<std::size_t> next{0};
  for_each_slab(make_slabs(workers, workers, 1), [&](std::size_t, Slab) {
    auto worker = make();
    for (std::size_t task = next++; task < tasks; task = next++) work(worker, task);
  });
}

// Box of each label: where any rater said it.
inline void label_boxes(const WindowFrame& frame, std::int64_t* boxes) {
  for (std::size_t label = 0; label < frame.labels; ++label) {
    for (std::size_t side = 0; side < 6; ++side) boxes[6 * label + side] = side < 3 ? INT64_MAX : 0;
  }
  auto widen = [&](std::size_t label, const Source& source) {
    std::int64_t* box = boxes + 6 * label;
    const std::int64_t at[3] = {source.z, source.y, source.x};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      box[axis] = std::min(box[axis], at[axis]);
      box[axis + 3] = std::max(box[axis + 3], at[axis] + (axis == 2 ? source.length : 1));
    }
  };
  for (std::size_t label = 0; label < frame.labels; ++label) {
    for (auto run = frame.run_begin[label]; run < frame.run_begin[label + 1]; ++run) {
      widen(label, source_at(frame, frame.run_places[run], frame.run_lengths[run], 1));
    }
  }
  for (std::size_t voxel = 0; voxel < frame.number; ++voxel) {
    const Source source = source_at(frame, frame.places[voxel], 1, 1);
    for (std::size_t rater = 0; rater < frame.raters; ++rater) {
      if (frame.vote(voxel, rater) < frame.labels) widen(frame.vote(voxel, rater), source);
    }
  }
}

// (N) voxels in each window that the rater (or, at `raters`, anybody) annotated.
inline void annotated_in_windows(const WindowFrame& frame, std::size_t rater, std::size_t threads, float* out) {
  const auto parts = parts_of(frame);
  for_each_task(parts.size(), threads, [&] { return WindowSweep(frame); }, [&](WindowSweep& sweep, std::size_t task) {
    Sources sources;
    for (std::size_t label = 0; label < frame.labels; ++label) add_agreed(frame, label, rater, parts[task], 1, sources);
    const auto [low, high] = reached_places(frame, parts[task]);
    const std::uint32_t* end = frame.places + frame.number;
    for (const std::uint32_t* at = std::lower_bound(frame.places, end, low); at != end && *at <= high; ++at) {
      const auto voxel = static_cast<std::size_t>(at - frame.places);
      if (rater < frame.raters && frame.vote(voxel, rater) == frame.labels) continue;
      sources.push_back(source_at(frame, *at, 1, 1));
    }
    sort_by_plane(sources);
    sweep.run(sources, parts[task], [&](std::size_t voxel, std::uint64_t sum) { out[voxel] = static_cast<float>(sum); });
  });
}

// Eq. 2.5.4's sigma of what the rater said at each voxel, and the sum over all labels.
inline void scale_factors(const WindowFrame& frame, std::size_t rater, const float* seen, double kappa,
                          std::size_t threads, float* said, float* sum) {
  const auto parts = parts_of(frame);
  const auto labels = static_cast<double>(frame.labels);
  for_each_task(parts.size(), threads, [&] { return WindowSweep(frame); }, [&](WindowSweep& sweep, std::size_t task) {
    const Part& part = parts[task];
    const std::size_t first = frame.row_begin[frame.row(part.volume, part.low[0], 0)];
    const std::size_t last = frame.row_begin[frame.row(part.volume, part.high[0] - 1, frame.shape[2] - 1) + 1];
    std::vector<double> taken(last - first, 0.0);
    for (std::size_t voxel = first; voxel < last; ++voxel) said[voxel] = 0.0F;
    for (std::size_t label = 0; label < frame.labels; ++label) {
      sweep.run(said_sources(frame, rater, label, part), part, [&](std::size_t voxel, std::uint64_t count) {
        const double share = static_cast<double>(seen[voxel]) / labels;
        const double held = std::min(static_cast<double>(count), share);
        taken[voxel - first] += held;
        if (frame.vote(voxel, rater) == label) said[voxel] = static_cast<float>(kappa * (share - held));
      });
    }
    for (std::size_t voxel = first; voxel < last; ++voxel) {
      sum[voxel] = static_cast<float>(kappa * std::max(static_cast<double>(seen[voxel]) - taken[voxel - first], 0.0));
    }
  });
}

// Voxels of each part, which lie between two numbers.
inline std::vector<std::pair<std::size_t, std::size_t>> voxels_of_parts(const WindowFrame& frame) {
  std::vector<std::pair<std::size_t, std::size_t>> voxels;
  for (const Part& part : parts_of(frame)) {
    voxels.emplace_back(frame.row_begin[frame.row(part.volume, part.low[0], 0)],
                        frame.row_begin[frame.row(part.volume, part.high[0] - 1, frame.shape[2] - 1) + 1]);
  }
  return voxels;
}

// The joints of each label wanted at the voxels of one part.
inline std::vector<LabelJoints> joints_of_labels(const WindowFrame& frame, const PerformanceModel& model,
                                                 const Part& part, const std::vector<std::size_t>& labels,
                                                 const std::vector<LabelWeights>& posterior, const float* peaks,
                                                 float cut, std::size_t threads) {
  std::vector<LabelJoints> joints(labels.size());
  for_each_task(labels.size(), threads, [&] { return JointsOfLabel(frame, model); },
                [&](JointsOfLabel& worker, std::size_t k) {
                  worker.run(labels[k], posterior[k], part, peaks, cut, joints[k]);
                });
  return joints;
}

struct StepSums {
  double evidence = 0.0;
  double moved = 0.0;  // probability that went from some labels to others
};

// Turns log joints of all labels at `number` voxels from the first on, in place, into posteriors;
// those below `least` become 0.
inline StepSums normalise_joints(std::size_t first, std::size_t number, const std::vector<LabelWeights>& joints,
                                 const std::vector<float*>& out, const std::vector<LabelWeights>& before,
                                 float least, std::size_t threads) {
  constexpr std::size_t kVoxels = std::size_t{1} << 14;
  std::vector<StepSums> sums((number + kVoxels - 1) / kVoxels);
  auto range = [](const LabelWeights& of, std::size_t begin, std::size_t end) {
    const std::uint32_t* last = of.voxels + of.number;
    return std::pair<std::size_t, std::size_t>(std::lower_bound(of.voxels, last, begin) - of.voxels,
                                               std::lower_bound(of.voxels, last, end) - of.voxels);
  };
  for_each_task(sums.size(), threads, [] { return std::vector<double>(2 * kVoxels); }, [&](std::vector<double>& room, std::size_t task) {
    const std::size_t begin = first + task * kVoxels, end = std::min(first + number, begin + kVoxels);
    double* peak = room.data();
    double* total = room.data() + kVoxels;
    std::fill_n(peak, kVoxels, -INFINITY);
    std::fill_n(total, kVoxels, 0.0);
    for (const LabelWeights& of : joints) {
      const auto [from, to] = range(of, begin, end);
      for (std::size_t k = from; k < to; ++k) {
        double& highest = peak[of.voxels[k] - begin];
        highest = std::max(highest, static_cast<double>(of.weights[k]));
      }
    }
    for (const LabelWeights& of : joints) {
      const auto [from, to] = range(of, begin, end);
      for (std::size_t k = from; k < to; ++k) {
        total[of.voxels[k] - begin] += std::exp(static_cast<double>(of.weights[k]) - peak[of.voxels[k] - begin]);
      }
    }
    StepSums& sum = sums[task];
    for (std::size_t voxel = begin; voxel < end; ++voxel) sum.evidence += std::log(total[voxel - begin]) + peak[voxel - begin];
    for (std::size_t label = 0; label < joints.size(); ++label) {
      const LabelWeights &now = joints[label], &old = before[label];
      const auto [from, to] = range(now, begin, end);
      auto [earlier, last] = range(old, begin, end);
      for (std::size_t k = from; k < to; ++k) {
        const std::size_t at = now.voxels[k] - begin;
        const auto share = static_cast<float>(std::exp(static_cast<double>(now.weights[k]) - peak[at]) / total[at]);
        const float weight = share < least ? 0.0F : share;
        for (; earlier < last && old.voxels[earlier] < now.voxels[k]; ++earlier) sum.moved += old.weights[earlier];
        float had = 0.0F;
        if (earlier < last && old.voxels[earlier] == now.voxels[k]) had = old.weights[earlier++];
        sum.moved += std::abs(weight - had);
        out[label][k] = weight;
      }
      for (; earlier < last; ++earlier) sum.moved += old.weights[earlier];
    }
  });
  StepSums all;
  for (const StepSums& sum : sums) {
    all.evidence += sum.evidence;
    all.moved += sum.moved / 2;
  }
  return all;
}

}  // namespace consensus
