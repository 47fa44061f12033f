// nanobind's own library, compiled with the module: nothing of it has to be installed beside a wheel.
#include <nb_combined.cpp>
