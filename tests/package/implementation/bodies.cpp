// The one file of the program that holds Lathe's bodies.
#define LATHE_IMPLEMENTATION
#include <lathe/lathe.hpp>
