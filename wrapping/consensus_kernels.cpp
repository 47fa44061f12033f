// The compiled module: one bind_*.cpp per room, each of which adds its functions here.
#include <pybind11/pybind11.h>

namespace consensus {

void bind_atlas(pybind11::module_& m);
void bind_boxes(pybind11::module_& m);
void bind_coherence(pybind11::module_& m);
void bind_em(pybind11::module_& m);
void bind_packed(pybind11::module_& m);
void bind_gaussian(pybind11::module_& m);
void bind_patterns(pybind11::module_& m);
void bind_tiles(pybind11::module_& m);
void bind_volumes(pybind11::module_& m);
void bind_voting(pybind11::module_& m);
void bind_windows(pybind11::module_& m);

}  // namespace consensus

PYBIND11_MODULE(_kernels, m) {
  m.doc() = "Compiled kernels of itk_consensus; see wrapping/README.md.";
  consensus::bind_atlas(m);
  consensus::bind_boxes(m);
  consensus::bind_coherence(m);
  consensus::bind_em(m);
  consensus::bind_packed(m);
  consensus::bind_gaussian(m);
  consensus::bind_patterns(m);
  consensus::bind_tiles(m);
  consensus::bind_volumes(m);
  consensus::bind_voting(m);
  consensus::bind_windows(m);
}
