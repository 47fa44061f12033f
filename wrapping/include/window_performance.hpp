// What Spatial STAPLE's step is given and gives: weights, counts, scale factors, joints and their peaks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace consensus {

// A label's posterior: disputed voxels in order, and their weights.
struct LabelWeights {
  const std::uint32_t* voxels;
  const float* weights;
  std::size_t number;
};

// The same in parts of the voxels that follow each other.
using WeightsInParts = std::vector<LabelWeights>;

// How many voxels of each window around the n voxels of a piece were annotated.
template <class Real>
struct SeenInWindows {
  const std::uint8_t* gaps;   // (J) whether the rater missed a voxel that another annotated
  std::size_t first, number;  // of the piece's voxels
  Real* counts;               // (1 + J, n): by anybody, then by raters with gaps; or one row if none has

  Real* anybody() const { return counts; }
  Real* by(std::size_t rater) const { return gaps[rater] ? counts + (rater + 1) * number : counts; }
};

// What the M-step needs beyond sums; K labels, N voxels.
struct PerformanceModel {
  double kappa;                // strength of the regularisation
  const double* targets;       // (J, K, K) [rater, observed, true]: what sparse data lean to
  const double* alpha;         // (K, K) [observed, true]: pseudo-counts
  const double* log_prior;     // (K), or null: the label's share of the window
  SeenInWindows<const float> seen;
  bool mixed_target;           // whether targets are more than a diagonal and a rest
  double least;                // a vote is never less probable
  unsigned shift;              // weights are scaled by 2^shift
};

// Eq. 2.5.4's sigma at the n voxels of a piece, (J, n): of what the rater said there, and the sum over all labels.
template <class Real>
struct ScaleFactors {
  std::size_t first, number;  // of the piece's voxels
  Real* said;
  Real* sum;

  std::size_t at(std::size_t rater, std::size_t voxel) const { return rater * number + voxel - first; }
};

struct LabelJoints {
  std::vector<std::uint32_t> voxels;
  std::vector<float> log_joints;
};

// The highest log joint known of each voxel of a part, which threads share.
class Peaks {
 public:
  Peaks(std::size_t first, std::size_t number, float cut) : first_(first), cut_(cut), highest_(number, -INFINITY) {}

  // Calls work under a lock, which raise() needs while threads are at work.
  template <class Work>
  void locked(Work work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    work();
  }
  // False for a joint that is `cut` below another of the voxel.
  bool raise(std::size_t voxel, float joint) {
    float& highest = highest_[voxel - first_];
    highest = std::max(highest, joint);
    return joint >= highest - cut_;
  }
  // Leaves of a label what is not `cut` below the highest of all labels.
  void sift(LabelJoints& found) {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < found.voxels.size(); ++k) {
      if (!raise(found.voxels[k], found.log_joints[k])) continue;
      found.voxels[kept] = found.voxels[k];
      found.log_joints[kept++] = found.log_joints[k];
    }
    found.voxels.resize(kept);
    found.log_joints.resize(kept);
  }

 private:
  std::mutex mutex_;
  std::size_t first_;
  float cut_;
  std::vector<float> highest_;
};

}  // namespace consensus
