// The compiled module. Each bind_*.cpp adds its functions here.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace consensus {

void bind_atlas(nb::module_& m);
void bind_boxes(nb::module_& m);
void bind_coherence(nb::module_& m);
void bind_em(nb::module_& m);
void bind_field(nb::module_& m);
void bind_packed(nb::module_& m);
void bind_gaussian(nb::module_& m);
void bind_patterns(nb::module_& m);
void bind_tiles(nb::module_& m);
void bind_volumes(nb::module_& m);
void bind_voting(nb::module_& m);
void bind_windows(nb::module_& m);

}  // namespace consensus

NB_MODULE(_kernels, m) {
  // No warnings about leaks: Python may exit while a rater is still referenced, for example by the frame of an
  // exception.
  nb::set_leak_warnings(false);
  m.doc() = "Compiled kernels of itk_consensus; see wrapping/README.md.";
  consensus::bind_atlas(m);
  consensus::bind_boxes(m);
  consensus::bind_coherence(m);
  consensus::bind_em(m);
  consensus::bind_field(m);
  consensus::bind_packed(m);
  consensus::bind_gaussian(m);
  consensus::bind_patterns(m);
  consensus::bind_tiles(m);
  consensus::bind_volumes(m);
  consensus::bind_voting(m);
  consensus::bind_windows(m);
}
