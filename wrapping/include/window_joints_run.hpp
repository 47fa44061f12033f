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
#include <numeric>
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

// A part in pieces of some planes each.
inline std::vector<Part> pieces_of(const Part& part, std::size_t number) {
  std::vector<Part> pieces;
  for (const Slab& planes : make_slabs(part.high[0] - part.low[0], number, 1)) {
    pieces.push_back(part);
    pieces.back().low[0] = part.low[0] + planes.begin;
    pieces.back().high[0] = part.low[0] + planes.end;
  }
  return pieces;
}

// Scale factors are of every rater: so many raters share a piece, that they are not the most of the
// memory. Smaller pieces would read the sources around them more often.
constexpr std::size_t kRatersOfPiece = 8;

inline std::vector<Part> pieces_of_part(const WindowFrame& frame, std::size_t part) {
  return pieces_of(parts_of(frame).at(part), (frame.raters + kRatersOfPiece - 1) / kRatersOfPiece);
}

// Calls work(worker, task); threads take the next task when they are done with one.
template <class MakeWorker, class Work>
void for_each_task(std::size_t tasks, std::size_t threads, MakeWorker make, Work work) {
  const std::size_t workers = std::max<std::size_t>(1, std::min(threads, tasks));
  std::atomic<std::size_t> next{0};
  for_each_slab(make_slabs(workers, workers, 1), [&](std::size_t, Slab) {
    auto worker = make();
    for (std::size_t task = next++; task < tasks; task = next++) {
      checkpoint();
      work(worker, task);
    }
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
  SourceAt source_at(frame);
  for (std::size_t label = 0; label < frame.labels; ++label) {
    for (auto run = frame.run_begin[label]; run < frame.run_begin[label + 1]; ++run) {
      widen(label, source_at(frame.run_places[run], frame.run_lengths[run], 1));
    }
  }
  for (std::size_t voxel = 0; voxel < frame.number; ++voxel) {
    if (voxel % kPiece == 0) checkpoint();
    const Source source = source_at(frame.places[voxel], 1, 1);
    for (std::size_t rater = 0; rater < frame.raters; ++rater) {
      if (frame.vote(voxel, rater) < frame.labels) widen(frame.vote(voxel, rater), source);
    }
  }
}

// Counts at the voxels of some planes which the rater (or, at `raters`, anybody) annotated.
inline void count_annotated(const WindowFrame& frame, std::size_t rater, const Part& planes, WindowSweep& sweep,
                            std::size_t first, float* out) {
  Sources sources;
  SourceAt source_at(frame);
  for (std::size_t label = 0; label < frame.labels; ++label) add_agreed(frame, label, rater, planes, 1, sources);
  const auto [low, high] = reached_places(frame, planes);
  const std::uint32_t* end = frame.places + frame.number;
  for (const std::uint32_t* at = std::lower_bound(frame.places, end, low); at != end && *at <= high; ++at) {
    const auto voxel = static_cast<std::size_t>(at - frame.places);
    if (rater < frame.raters && frame.vote(voxel, rater) == frame.labels) continue;
    add_to_runs(source_at(*at, 1, 1), sources);
  }
  std::sort(sources.begin(), sources.end(), lies_before);
  sweep.run(sources, planes, [&](std::size_t voxel, std::uint64_t sum) { out[voxel - first] = static_cast<float>(sum); });
}

inline void find_annotated(const WindowFrame& frame, const Part& piece, std::size_t threads,
                           const SeenInWindows<float>& out) {
  struct Task {
    std::size_t rater;
    Part planes;
  };
  std::vector<Task> tasks;
  for (const Part& planes : pieces_of(piece, threads)) {
    tasks.push_back({frame.raters, planes});
    for (std::size_t rater = 0; rater < frame.raters; ++rater) {
      if (out.gaps[rater]) tasks.push_back({rater, planes});
    }
  }
  for_each_task(tasks.size(), threads, [&] { return WindowSweep(frame); }, [&](WindowSweep& sweep, std::size_t k) {
    const std::size_t rater = tasks[k].rater;
    count_annotated(frame, rater, tasks[k].planes, sweep, out.first,
                    rater < frame.raters ? out.by(rater) : out.anybody());
  });
}

// At the voxels of a piece. They depend on votes alone, but of all pieces together they would be the
// most of the memory.
inline void find_scale_factors(const WindowFrame& frame, const SeenInWindows<const float>& seen_in, double kappa,
                               const Part& part, std::size_t threads, const ScaleFactors<float>& out) {
  const auto labels = static_cast<double>(frame.labels);
  const Mentions mentions = mentions_around(frame, part);
  for_each_task(frame.raters, threads, [&] { return WindowSweep(frame); }, [&](WindowSweep& sweep, std::size_t rater) {
    const float* seen = seen_in.by(rater);
    float* said = out.said + rater * out.number;
    float* sum = out.sum + rater * out.number;
    std::fill_n(said, out.number, 0.0F);
    std::vector<double> taken(out.number, 0.0);
    for (std::size_t label = 0; label < frame.labels; ++label) {
      sweep.run(said_sources(frame, mentions, rater, label, part), part, [&](std::size_t voxel, std::uint64_t count) {
        const double share = static_cast<double>(seen[voxel - out.first]) / labels;
        const double held = std::min(static_cast<double>(count), share);
        taken[voxel - out.first] += held;
        if (frame.vote(voxel, rater) == label) said[voxel - out.first] = static_cast<float>(kappa * (share - held));
      });
    }
    for (std::size_t k = 0; k < out.number; ++k) {
      sum[k] = static_cast<float>(kappa * std::max(static_cast<double>(seen[k]) - taken[k], 0.0));
    }
  });
}

// The joints of each label at the voxels of one piece, again in pieces.
//
// A label that has more than a thread's share of the posterior is done in pieces, and the large
// ones come first: the others then know where they are too improbable to be kept.
inline std::vector<std::vector<LabelJoints>> joints_of_labels(const WindowFrame& frame, const PerformanceModel& model,
                                                              const Part& part,
                                                              const ScaleFactors<const float>& sigmas,
                                                              const std::vector<WeightsInParts>& posterior, float cut,
                                                              std::size_t threads) {
  struct Task {
    std::size_t label, piece;
    Part planes;
  };
  std::vector<std::size_t> sizes(frame.labels, 0), order(frame.labels);
  for (std::size_t label = 0; label < frame.labels; ++label) {
    order[label] = label;
    for (const LabelWeights& of : posterior[label]) sizes[label] += of.number;
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  const std::size_t all = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
  std::vector<std::vector<LabelJoints>> joints(frame.labels);
  std::vector<Task> tasks;
  for (const std::size_t label : order) {
    const auto pieces = pieces_of(part, sizes[label] * threads > all ? threads : 1);
    for (std::size_t piece = 0; piece < pieces.size(); ++piece) tasks.push_back({label, piece, pieces[piece]});
    joints[label].resize(pieces.size());
  }
  Peaks peaks(sigmas.first, sigmas.number, cut);
  const Mentions mentions = mentions_around(frame, part);
  for_each_task(tasks.size(), threads, [&] { return JointsOfLabel(frame, model, sigmas, mentions); },
                [&](JointsOfLabel& worker, std::size_t k) {
                  const Task& task = tasks[k];
                  worker.run(task.label, posterior[task.label], task.planes, peaks, joints[task.label][task.piece]);
                });
  // What is left must not depend on which labels were done before.
  for (auto& pieces : joints) {
    for (LabelJoints& found : pieces) peaks.sift(found);
  }
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
