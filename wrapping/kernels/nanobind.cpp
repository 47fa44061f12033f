// Compiles the library of nanobind into the module, so that a wheel does not depend on it.
#include <nb_combined.cpp>
