// Two translation units that hold the whole library, one compiled for AVX-512, in one program.
float plain(int n);
float wide(int n);

int main() { return plain(100) == 400.0f && wide(100) == 400.0f ? 0 : 1; }
