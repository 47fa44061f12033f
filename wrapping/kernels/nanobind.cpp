// nanobind's library, compiled into the module, so that a wheel does not depend on it.
#include <nb_combined.cpp>
