target triple = "x86_64-unknown-linux-gnu"

define i32 @lathe_masked(ptr %slots, ptr %rt) #0 {
entry:
  %t0 = load ptr, ptr %slots, align 8, !invariant.load !0
  %t1 = getelementptr inbounds i64, ptr %slots, i64 1
  %t2 = load ptr, ptr %t1, align 8, !invariant.load !0
  %t3 = getelementptr inbounds i64, ptr %slots, i64 2
  %t4 = load i64, ptr %t3, align 8, !invariant.load !0
  %t5 = add i64 %t4, 15
  %t6 = sdiv i64 %t5, 16
  %t9 = icmp slt i64 0, %t6
  br i1 %t9, label %loop7, label %done8
loop7:
  %t12 = phi i64 [ 0, %entry ], [ %t10, %next11 ]
  %t13 = mul i64 %t12, 16
  %t14 = icmp slt i64 %t13, %t4
  %t15 = sub i64 %t4, %t13
  %t16 = call i64 @llvm.umin.i64(i64 %t15, i64 16)
  %t17 = select i1 %t14, i64 %t16, i64 0
  %t18 = and i64 %t17, 63
  %t19 = shl i64 -1, %t18
  %t20 = xor i64 %t19, -1
  %t21 = trunc i64 %t20 to i16
  %t22 = bitcast i16 %t21 to <2 x i8>
  %t23 = shufflevector <2 x i8> %t22, <2 x i8> poison, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %t24 = and <16 x i8> %t23, <i8 1, i8 2, i8 4, i8 8, i8 16, i8 32, i8 64, i8 128, i8 1, i8 2, i8 4, i8 8, i8 16, i8 32, i8 64, i8 128>
  %t25 = icmp ne <16 x i8> %t24, zeroinitializer
  %t26 = getelementptr float, ptr %t0, i64 %t13
  %t27 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %t26, i32 64, <16 x i1> %t25, <16 x float> zeroinitializer), !alias.scope !9, !noalias !10
  %t28 = fcmp ogt <16 x float> %t27, zeroinitializer
  %t29 = shufflevector <16 x i1> %t28, <16 x i1> poison, <16 x i32> <i32 15, i32 14, i32 13, i32 12, i32 11, i32 10, i32 9, i32 8, i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>
  %t30 = add i64 %t12, -15
  %t31 = getelementptr float, ptr %t0, i64 %t30
  %t32 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %t31, i32 4, <16 x i1> %t29, <16 x float> zeroinitializer), !alias.scope !9, !noalias !10
  %t33 = shufflevector <16 x float> %t32, <16 x float> poison, <16 x i32> <i32 15, i32 14, i32 13, i32 12, i32 11, i32 10, i32 9, i32 8, i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>
  %t34 = select <16 x i1> %t28, <16 x float> %t33, <16 x float> %t27
  %t35 = fcmp ole <16 x float> %t34, zeroinitializer
  %t36 = select <16 x i1> %t35, <16 x float> zeroinitializer, <16 x float> %t34
  %t37 = getelementptr float, ptr %t2, i64 %t13
  call void @llvm.masked.store.v16f32.p0(<16 x float> %t36, ptr %t37, i32 4, <16 x i1> %t25), !alias.scope !12, !noalias !13
  br label %next11
next11:
  %t10 = add nsw i64 %t12, 1
  %t38 = icmp slt i64 %t10, %t6
  br i1 %t38, label %loop7, label %done8, !llvm.loop !14
done8:
  ret i32 0
}

declare i64 @llvm.umin.i64(i64, i64) #1
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32, <16 x i1>, <16 x float>) #1
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, i32, <16 x i1>) #1

attributes #0 = { nounwind "target-cpu"="x86-64-v4" "target-features"="-aes,-pclmul,-avxvnni,-avxifma,-avxneconvert,-avxvnniint8,-avx512ifma,-avx512vbmi,-avx512vbmi2,-avx512bitalg,-avx512vnni,-avx512vpopcntdq,-avx512bf16,-avx512fp16,-gfni,-vaes,-vpclmulqdq,-amx-tile,-amx-int8,-amx-bf16,+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+cx16,+avx,+f16c,+fma,+avx2,+bmi,+bmi2,+lzcnt,+movbe,+avx512f,+avx512cd,+avx512bw,+avx512dq,+avx512vl" "prefer-vector-width"="512" "no-trapping-math"="true" }
attributes #1 = { nounwind }

!0 = !{}
!1 = distinct !{!1, !"buffers"}
!2 = !{!"llvm.loop.unroll.disable"}
!3 = !{!"llvm.loop.vectorize.enable", i1 false}
!4 = !{i32 1}
!8 = distinct !{!8, !1, !"x"}
!9 = !{!8}
!11 = distinct !{!11, !1, !"y"}
!12 = !{!11}
!14 = distinct !{!14, !2, !3}
!10 = !{!11}
!13 = !{!8}
