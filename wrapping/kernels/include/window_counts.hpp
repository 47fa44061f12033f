// Counts voxels in windows for Spatial STAPLE, from votes alone: annotated voxels and, if there are two
// labels, the voxels to which each rater gave the second one.
//
// Preconditions (checked in Python): as in window_sums.hpp; counts over a window fit 32 bits.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "window_sums.hpp"

namespace consensus {

// Counts for n consecutive disputed voxels, those of some planes.
template <class Real>
struct WindowCounts {
  std::size_t first, number;
  Real* seen;  // (n, annotators) number of annotated voxels in the window
  Real* said;  // (n, J) number of these to which the rater gave label 1; only for two labels
};

// Calls work(worker, task) for every task; each thread has its own worker and takes the next task when it
// has finished one.
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

// Adds a weight to lane 0 and, if votes may be missing, to the lanes of the raters who annotated
// the voxel.
template <class Vote, class Number>
void add_annotators(const WindowFrame<Vote>& frame, const Vote* votes, Number weight, Number* cell) {
  cell[0] += weight;
  if (!frame.gaps) return;
  for (std::size_t rater = 0; rater < frame.raters; ++rater) {
    cell[rater + 1] += votes[rater] < frame.labels ? weight : Number{0};
  }
}

// The same for all voxels of a run; `number` is the number of values in their cells.
template <class Vote, class Number>
void add_annotators(const WindowFrame<Vote>& frame, const Vote* votes, Number weight, Number* cells, std::size_t number) {
  if (!frame.gaps) return add_weight(weight, number, cells);
  const std::size_t lanes = stride_of<Number>(frame.annotators());
  for (std::size_t at = 0; at < number; ++at) add_annotators(frame, votes, weight, cells + at * lanes);
}

// Adds a weight to the lanes of the raters who gave the label.
template <class Vote, class Number>
void add_raters(const Vote* votes, std::size_t raters, std::size_t label, Number weight, Number* cell) {
  for (std::size_t rater = 0; rater < raters; ++rater) cell[rater] += votes[rater] == label ? weight : Number{0};
}

// The same for all voxels of a run on whose label the raters agree.
template <class Vote, class Number>
void add_raters(const WindowFrame<Vote>& frame, const Vote* votes, std::size_t label, Number weight, Number* cells,
                std::size_t number) {
  const std::size_t lanes = stride_of<Number>(frame.raters);
  if (!frame.gaps) return add_weight(weight, number * lanes, cells);
  for (std::size_t at = 0; at < number; ++at) add_raters(votes, frame.raters, label, weight, cells + at * lanes);
}

// Sums, per rater, the voxels in each window to which the rater gave a label: unanimous and disputed ones.
template <class Vote, class Number, class Voxels, class Visit>
void count_said(WindowSweep<Vote, Number>& sweep, const WindowFrame<Vote>& frame, std::size_t label, const Box& within,
                Voxels voxels, Visit visit) {
  const std::uint32_t *mentions = frame.mentions, *patterns = frame.patterns;
  const std::size_t raters = frame.raters;
  const Vote* votes = frame.votes;
  const auto voxel_of = [=](std::size_t k) { return mentions[k]; };
  sweep.run(raters, frame.boxes[label], within, voxels, visit,
            agreed_sources(frame, frame.run_begin[label], frame.run_begin[label + 1],
                           [&](std::size_t k, Number* cells, std::size_t number, Number sign) {
                             add_raters(frame, frame.votes_of_run(k), label, sign, cells, number);
                           }),
            disputed_sources(frame.places, frame.mention_begin[label], frame.mention_begin[label + 1], voxel_of,
                             [=](std::size_t k, Number* cell, std::size_t, Number sign) {
                               add_raters(votes + patterns[mentions[k]] * raters, raters, label, sign, cell);
                             }));
}

template <class Vote>
class CountsOfPlanes {
 public:
  CountsOfPlanes(const WindowFrame<Vote>& frame, const WindowCounts<float>& out) : frame_(frame), out_(out), sweep_(frame) {}

  void run(const Box& planes) {
    count_annotated(planes);
    if (frame_.labels == 2) count_higher(planes);
  }

 private:
  void count_annotated(const Box& planes) {
    const std::size_t lanes = frame_.annotators();
    const std::uint32_t *runs = frame_.agreed.data(), *places = frame_.run_places, *lengths = frame_.run_lengths;
    const auto same = [](std::size_t k) { return k; };
    sweep_.run(lanes, whole_box(frame_.shape), planes, AllVoxels<Vote>(frame_),
               [&](std::size_t voxel, const std::uint32_t* high, const std::uint32_t* low) {
                 for (std::size_t lane = 0; lane < lanes; ++lane) {
                   out_.seen[(voxel - out_.first) * lanes + lane] = static_cast<float>(high[lane] - low[lane]);
                 }
               },
               source_list(0, frame_.agreed.size(), [=](std::size_t k) { return places[runs[k]]; },
                           [=](std::size_t k) { return static_cast<std::size_t>(lengths[runs[k]]); },
                              [&](std::size_t k, std::uint32_t* cells, std::size_t number, std::uint32_t sign) {
                                add_annotators(frame_, frame_.votes_of_run(runs[k]), sign, cells, number);
                              }),
               disputed_sources(frame_.places, 0, frame_.number, same,
                                [&](std::size_t voxel, std::uint32_t* cell, std::size_t, std::uint32_t sign) {
                                  add_annotators(frame_, frame_.votes_at(voxel), sign, cell);
                                }));
  }

  // Counts the voxels with the second of two labels.
  void count_higher(const Box& planes) {
    const std::size_t raters = frame_.raters;
    count_said(sweep_, frame_, 1, planes, AllVoxels<Vote>(frame_),
               [&](std::size_t voxel, const std::uint32_t* high, const std::uint32_t* low) {
                 float* said = out_.said + (voxel - out_.first) * raters;
                 for (std::size_t rater = 0; rater < raters; ++rater) said[rater] = static_cast<float>(high[rater] - low[rater]);
               });
  }

  const WindowFrame<Vote>& frame_;
  const WindowCounts<float>& out_;
  WindowSweep<Vote, std::uint32_t> sweep_;
};

// Counts the voxels in the windows around a part's disputed voxels. Precondition: `out.said` is all zeros.
template <class Vote>
void find_counts(const WindowFrame<Vote>& frame, const Box& part, std::size_t threads, const WindowCounts<float>& out) {
  const std::vector<Box> pieces = pieces_of(part, threads, 1);
  for_each_task(pieces.size(), threads, [&] { return CountsOfPlanes<Vote>(frame, out); },
                [&](CountsOfPlanes<Vote>& worker, std::size_t k) { worker.run(pieces[k]); });
}

}  // namespace consensus
