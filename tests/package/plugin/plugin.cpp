// A shared library that carries its own Lathe; main.cpp loads two copies of it.
#define main consumer_main
#include "../consumer.cpp"
#undef main

extern "C" __attribute__((visibility("default"))) int run_plugin() { return consumer_main(); }
