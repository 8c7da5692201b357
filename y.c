/* int32_t lathe_Y(const uint64_t *slots, lathe_runtime *rt);
   slots:
     0  the elements of X, f32
     1  the elements of bias, f32
     2  the elements of Y, f32
     3  the stride of axis 0 of X, in elements
     4  the stride of axis 0 of Y, in elements
   returns 0; 1: no memory */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Every operation rounds once. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off", "no-math-errno")
#pragma GCC diagnostic ignored "-Wpsabi"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "floats must be computed in their own type");

/* What a host offers to a kernel; null: loops run in turn, memory is the C library's. */
typedef struct lathe_runtime lathe_runtime;
typedef int32_t lathe_body(void *closure, int64_t begin, int64_t end, lathe_runtime *rt);
struct lathe_runtime {
  int32_t (*parallel_for)(lathe_runtime *rt, int64_t n, int64_t max_threads, lathe_body *body,
                          void *closure);
  void *(*alloc)(lathe_runtime *rt, int64_t bytes, int64_t alignment);
  void (*release)(lathe_runtime *rt, void *block);
  void *opaque;
  void (*report)(lathe_runtime *rt, int64_t k, int64_t value);
};
static inline int32_t lathe_for(lathe_runtime *rt, int64_t n, int64_t max_threads,
                                lathe_body *body, void *closure) {
  if (rt) return rt->parallel_for(rt, n, max_threads, body, closure);
  return body(closure, 0, n, rt);
}
static inline void *lathe_get(lathe_runtime *rt, int64_t bytes, int64_t alignment) {
  if (rt) return rt->alloc(rt, bytes, alignment);
  return aligned_alloc((size_t)alignment, (size_t)(bytes / alignment + 1) * (size_t)alignment);
}
static inline void lathe_put(lathe_runtime *rt, void *block) {
  if (rt) rt->release(rt, block);
  else free(block);
}
static inline void lathe_tell(lathe_runtime *rt, int64_t k, int64_t value) {
  if (rt) rt->report(rt, k, value);
}

typedef float lt_f32x4 __attribute__((vector_size(16)));

struct lathe_Y_body0 {
  float *f0;
  float *f1;
  float *f2;
  int64_t f3;
  int64_t f4;
  int64_t f5;
};
static int32_t lathe_Y_body0(void *closure, int64_t begin, int64_t end, lathe_runtime *rt) {
  const struct lathe_Y_body0 *const captured = closure;
  float *restrict X_0 = captured->f0;
  float *restrict bias_1 = captured->f1;
  float *restrict Y_2 = captured->f2;
  const int64_t Y_s0_3 = captured->f3;
  const int64_t X_s0_4 = captured->f4;
  const int64_t min_5 = captured->f5;
  for (int64_t io_6 = min_5 + begin; io_6 < min_5 + end; ++io_6) {
    for (int64_t jo_7 = 0; jo_7 < 64; ++jo_7) {
      const int64_t t_8 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)X_s0_4)) * (uint64_t)8));
      const int64_t t_9 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)t_8));
      lt_f32x4 t_10;
      for (int l = 0; l < 4; ++l) t_10[l] = X_0[t_9 + l];
      const int64_t t_11 = ((int64_t)((uint64_t)jo_7 * (uint64_t)4));
      lt_f32x4 t_12;
      for (int l = 0; l < 4; ++l) t_12[l] = bias_1[t_11 + l];
      const int64_t t_13 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)X_s0_4)) * (uint64_t)8));
      const int64_t t_14 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)t_13));
      lt_f32x4 t_15;
      for (int l = 0; l < 4; ++l) t_15[l] = X_0[t_14 + l];
      const int64_t t_16 = ((int64_t)((uint64_t)jo_7 * (uint64_t)4));
      lt_f32x4 t_17;
      for (int l = 0; l < 4; ++l) t_17[l] = bias_1[t_16 + l];
      const lt_f32x4 t_18 = ((t_10 + t_12) * (t_15 + t_17));
      const int64_t t_19 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)Y_s0_3)) * (uint64_t)8));
      const int64_t t_20 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)t_19));
      for (int l = 0; l < 4; ++l) Y_2[t_20 + l] = t_18[l];
      const int64_t t_21 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)X_s0_4));
      const int64_t t_22 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)X_s0_4)) * (uint64_t)8));
      const int64_t t_23 = ((int64_t)((uint64_t)t_21 + (uint64_t)t_22));
      lt_f32x4 t_24;
      for (int l = 0; l < 4; ++l) t_24[l] = X_0[t_23 + l];
      const int64_t t_25 = ((int64_t)((uint64_t)jo_7 * (uint64_t)4));
      lt_f32x4 t_26;
      for (int l = 0; l < 4; ++l) t_26[l] = bias_1[t_25 + l];
      const int64_t t_27 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)X_s0_4));
      const int64_t t_28 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)X_s0_4)) * (uint64_t)8));
      const int64_t t_29 = ((int64_t)((uint64_t)t_27 + (uint64_t)t_28));
      lt_f32x4 t_30;
      for (int l = 0; l < 4; ++l) t_30[l] = X_0[t_29 + l];
      const int64_t t_31 = ((int64_t)((uint64_t)jo_7 * (uint64_t)4));
      lt_f32x4 t_32;
      for (int l = 0; l < 4; ++l) t_32[l] = bias_1[t_31 + l];
      const lt_f32x4 t_33 = ((t_24 + t_26) * (t_30 + t_32));
      const int64_t t_34 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)Y_s0_3));
      const int64_t t_35 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)Y_s0_3)) * (uint64_t)8));
      const int64_t t_36 = ((int64_t)((uint64_t)t_34 + (uint64_t)t_35));
      for (int l = 0; l < 4; ++l) Y_2[t_36 + l] = t_33[l];
      const int64_t t_37 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)((int64_t)((uint64_t)X_s0_4 * (uint64_t)2))));
      const int64_t t_38 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)X_s0_4)) * (uint64_t)8));
      const int64_t t_39 = ((int64_t)((uint64_t)t_37 + (uint64_t)t_38));
      lt_f32x4 t_40;
      for (int l = 0; l < 4; ++l) t_40[l] = X_0[t_39 + l];
      const int64_t t_41 = ((int64_t)((uint64_t)jo_7 * (uint64_t)4));
      lt_f32x4 t_42;
      for (int l = 0; l < 4; ++l) t_42[l] = bias_1[t_41 + l];
      const int64_t t_43 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)((int64_t)((uint64_t)X_s0_4 * (uint64_t)2))));
      const int64_t t_44 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)X_s0_4)) * (uint64_t)8));
      const int64_t t_45 = ((int64_t)((uint64_t)t_43 + (uint64_t)t_44));
      lt_f32x4 t_46;
      for (int l = 0; l < 4; ++l) t_46[l] = X_0[t_45 + l];
      const int64_t t_47 = ((int64_t)((uint64_t)jo_7 * (uint64_t)4));
      lt_f32x4 t_48;
      for (int l = 0; l < 4; ++l) t_48[l] = bias_1[t_47 + l];
      const lt_f32x4 t_49 = ((t_40 + t_42) * (t_46 + t_48));
      const int64_t t_50 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)((int64_t)((uint64_t)Y_s0_3 * (uint64_t)2))));
      const int64_t t_51 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)Y_s0_3)) * (uint64_t)8));
      const int64_t t_52 = ((int64_t)((uint64_t)t_50 + (uint64_t)t_51));
      for (int l = 0; l < 4; ++l) Y_2[t_52 + l] = t_49[l];
      const int64_t t_53 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)((int64_t)((uint64_t)X_s0_4 * (uint64_t)3))));
      const int64_t t_54 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)X_s0_4)) * (uint64_t)8));
      const int64_t t_55 = ((int64_t)((uint64_t)t_53 + (uint64_t)t_54));
      lt_f32x4 t_56;
      for (int l = 0; l < 4; ++l) t_56[l] = X_0[t_55 + l];
      const int64_t t_57 = ((int64_t)((uint64_t)jo_7 * (uint64_t)4));
      lt_f32x4 t_58;
      for (int l = 0; l < 4; ++l) t_58[l] = bias_1[t_57 + l];
      const int64_t t_59 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)((int64_t)((uint64_t)X_s0_4 * (uint64_t)3))));
      const int64_t t_60 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)X_s0_4)) * (uint64_t)8));
      const int64_t t_61 = ((int64_t)((uint64_t)t_59 + (uint64_t)t_60));
      lt_f32x4 t_62;
      for (int l = 0; l < 4; ++l) t_62[l] = X_0[t_61 + l];
      const int64_t t_63 = ((int64_t)((uint64_t)jo_7 * (uint64_t)4));
      lt_f32x4 t_64;
      for (int l = 0; l < 4; ++l) t_64[l] = bias_1[t_63 + l];
      const lt_f32x4 t_65 = ((t_56 + t_58) * (t_62 + t_64));
      const int64_t t_66 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)((int64_t)((uint64_t)Y_s0_3 * (uint64_t)3))));
      const int64_t t_67 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)Y_s0_3)) * (uint64_t)8));
      const int64_t t_68 = ((int64_t)((uint64_t)t_66 + (uint64_t)t_67));
      for (int l = 0; l < 4; ++l) Y_2[t_68 + l] = t_65[l];
      const int64_t t_69 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)((int64_t)((uint64_t)X_s0_4 * (uint64_t)4))));
      const int64_t t_70 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)X_s0_4)) * (uint64_t)8));
      const int64_t t_71 = ((int64_t)((uint64_t)t_69 + (uint64_t)t_70));
      lt_f32x4 t_72;
      for (int l = 0; l < 4; ++l) t_72[l] = X_0[t_71 + l];
      const int64_t t_73 = ((int64_t)((uint64_t)jo_7 * (uint64_t)4));
      lt_f32x4 t_74;
      for (int l = 0; l < 4; ++l) t_74[l] = bias_1[t_73 + l];
      const int64_t t_75 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)((int64_t)((uint64_t)X_s0_4 * (uint64_t)4))));
      const int64_t t_76 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)X_s0_4)) * (uint64_t)8));
      const int64_t t_77 = ((int64_t)((uint64_t)t_75 + (uint64_t)t_76));
      lt_f32x4 t_78;
      for (int l = 0; l < 4; ++l) t_78[l] = X_0[t_77 + l];
      const int64_t t_79 = ((int64_t)((uint64_t)jo_7 * (uint64_t)4));
      lt_f32x4 t_80;
      for (int l = 0; l < 4; ++l) t_80[l] = bias_1[t_79 + l];
      const lt_f32x4 t_81 = ((t_72 + t_74) * (t_78 + t_80));
      const int64_t t_82 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)((int64_t)((uint64_t)Y_s0_3 * (uint64_t)4))));
      const int64_t t_83 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)Y_s0_3)) * (uint64_t)8));
      const int64_t t_84 = ((int64_t)((uint64_t)t_82 + (uint64_t)t_83));
      for (int l = 0; l < 4; ++l) Y_2[t_84 + l] = t_81[l];
      const int64_t t_85 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)((int64_t)((uint64_t)X_s0_4 * (uint64_t)5))));
      const int64_t t_86 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)X_s0_4)) * (uint64_t)8));
      const int64_t t_87 = ((int64_t)((uint64_t)t_85 + (uint64_t)t_86));
      lt_f32x4 t_88;
      for (int l = 0; l < 4; ++l) t_88[l] = X_0[t_87 + l];
      const int64_t t_89 = ((int64_t)((uint64_t)jo_7 * (uint64_t)4));
      lt_f32x4 t_90;
      for (int l = 0; l < 4; ++l) t_90[l] = bias_1[t_89 + l];
      const int64_t t_91 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)((int64_t)((uint64_t)X_s0_4 * (uint64_t)5))));
      const int64_t t_92 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)X_s0_4)) * (uint64_t)8));
      const int64_t t_93 = ((int64_t)((uint64_t)t_91 + (uint64_t)t_92));
      lt_f32x4 t_94;
      for (int l = 0; l < 4; ++l) t_94[l] = X_0[t_93 + l];
      const int64_t t_95 = ((int64_t)((uint64_t)jo_7 * (uint64_t)4));
      lt_f32x4 t_96;
      for (int l = 0; l < 4; ++l) t_96[l] = bias_1[t_95 + l];
      const lt_f32x4 t_97 = ((t_88 + t_90) * (t_94 + t_96));
      const int64_t t_98 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)((int64_t)((uint64_t)Y_s0_3 * (uint64_t)5))));
      const int64_t t_99 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)Y_s0_3)) * (uint64_t)8));
      const int64_t t_100 = ((int64_t)((uint64_t)t_98 + (uint64_t)t_99));
      for (int l = 0; l < 4; ++l) Y_2[t_100 + l] = t_97[l];
      const int64_t t_101 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)((int64_t)((uint64_t)X_s0_4 * (uint64_t)6))));
      const int64_t t_102 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)X_s0_4)) * (uint64_t)8));
      const int64_t t_103 = ((int64_t)((uint64_t)t_101 + (uint64_t)t_102));
      lt_f32x4 t_104;
      for (int l = 0; l < 4; ++l) t_104[l] = X_0[t_103 + l];
      const int64_t t_105 = ((int64_t)((uint64_t)jo_7 * (uint64_t)4));
      lt_f32x4 t_106;
      for (int l = 0; l < 4; ++l) t_106[l] = bias_1[t_105 + l];
      const int64_t t_107 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)((int64_t)((uint64_t)X_s0_4 * (uint64_t)6))));
      const int64_t t_108 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)X_s0_4)) * (uint64_t)8));
      const int64_t t_109 = ((int64_t)((uint64_t)t_107 + (uint64_t)t_108));
      lt_f32x4 t_110;
      for (int l = 0; l < 4; ++l) t_110[l] = X_0[t_109 + l];
      const int64_t t_111 = ((int64_t)((uint64_t)jo_7 * (uint64_t)4));
      lt_f32x4 t_112;
      for (int l = 0; l < 4; ++l) t_112[l] = bias_1[t_111 + l];
      const lt_f32x4 t_113 = ((t_104 + t_106) * (t_110 + t_112));
      const int64_t t_114 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)((int64_t)((uint64_t)Y_s0_3 * (uint64_t)6))));
      const int64_t t_115 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)Y_s0_3)) * (uint64_t)8));
      const int64_t t_116 = ((int64_t)((uint64_t)t_114 + (uint64_t)t_115));
      for (int l = 0; l < 4; ++l) Y_2[t_116 + l] = t_113[l];
      const int64_t t_117 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)((int64_t)((uint64_t)X_s0_4 * (uint64_t)7))));
      const int64_t t_118 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)X_s0_4)) * (uint64_t)8));
      const int64_t t_119 = ((int64_t)((uint64_t)t_117 + (uint64_t)t_118));
      lt_f32x4 t_120;
      for (int l = 0; l < 4; ++l) t_120[l] = X_0[t_119 + l];
      const int64_t t_121 = ((int64_t)((uint64_t)jo_7 * (uint64_t)4));
      lt_f32x4 t_122;
      for (int l = 0; l < 4; ++l) t_122[l] = bias_1[t_121 + l];
      const int64_t t_123 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)((int64_t)((uint64_t)X_s0_4 * (uint64_t)7))));
      const int64_t t_124 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)X_s0_4)) * (uint64_t)8));
      const int64_t t_125 = ((int64_t)((uint64_t)t_123 + (uint64_t)t_124));
      lt_f32x4 t_126;
      for (int l = 0; l < 4; ++l) t_126[l] = X_0[t_125 + l];
      const int64_t t_127 = ((int64_t)((uint64_t)jo_7 * (uint64_t)4));
      lt_f32x4 t_128;
      for (int l = 0; l < 4; ++l) t_128[l] = bias_1[t_127 + l];
      const lt_f32x4 t_129 = ((t_120 + t_122) * (t_126 + t_128));
      const int64_t t_130 = ((int64_t)((uint64_t)((int64_t)((uint64_t)jo_7 * (uint64_t)4)) + (uint64_t)((int64_t)((uint64_t)Y_s0_3 * (uint64_t)7))));
      const int64_t t_131 = ((int64_t)((uint64_t)((int64_t)((uint64_t)io_6 * (uint64_t)Y_s0_3)) * (uint64_t)8));
      const int64_t t_132 = ((int64_t)((uint64_t)t_130 + (uint64_t)t_131));
      for (int l = 0; l < 4; ++l) Y_2[t_132 + l] = t_129[l];
    }
  }
  return 0;
}

int32_t lathe_Y(const uint64_t *slots, lathe_runtime *rt) {
  int32_t status = 0;
  float *restrict X_0 = (float *)(uintptr_t)slots[0];
  float *restrict bias_1 = (float *)(uintptr_t)slots[1];
  float *restrict Y_2 = (float *)(uintptr_t)slots[2];
  const int64_t X_s0_3 = (int64_t)slots[3];
  const int64_t Y_s0_4 = (int64_t)slots[4];
  struct lathe_Y_body0 captured_5 = {X_0, bias_1, Y_2, Y_s0_4, X_s0_3, 0};
  const int32_t result_6 = lathe_for(rt, 8, 0, lathe_Y_body0, &captured_5);
  if (result_6 != 0) { status = result_6; goto fail; }
  return 0;
fail:
  return status;
}

