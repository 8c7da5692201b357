// Two translation units that hold the whole library, one compiled for AVX-512, in one program. A
// machine without it runs the other one.
float plain(int n);
float wide(int n);

int main() {
  const bool runs_wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  const bool agree = plain(100) == 400.0f && (!runs_wide || wide(100) == 400.0f);
  return agree ? 0 : 1;
}
