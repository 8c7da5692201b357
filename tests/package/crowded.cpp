// A program that has included everything else before: no name of the standard library or of POSIX
// may come between Lathe and its own.
#include <arpa/inet.h>
#include <bits/stdc++.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
using namespace std;
#include "consumer.cpp"
