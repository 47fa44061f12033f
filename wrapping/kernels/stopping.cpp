// Polls Python for Ctrl-C and Abort on behalf of kernels.
#include "bindings.hpp"
#include "parallel.hpp"

namespace consensus {

void ask_python() {
  nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) nb::raise_python_error();
  nb::module_::import_("itk_consensus.core.work").attr("checkpoint")();
}

}  // namespace consensus
