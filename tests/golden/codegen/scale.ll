target triple = "x86_64-unknown-linux-gnu"

define i32 @lathe_scale(ptr %slots, ptr %rt) #0 {
entry:
  %t0 = load ptr, ptr %slots, align 8, !invariant.load !0
  %t1 = getelementptr inbounds i64, ptr %slots, i64 1
  %t2 = load ptr, ptr %t1, align 8, !invariant.load !0
  %t3 = getelementptr inbounds i64, ptr %slots, i64 2
  %t4 = load i64, ptr %t3, align 8, !invariant.load !0
  %t5 = getelementptr inbounds i64, ptr %slots, i64 3
  %t6 = load float, ptr %t5, align 8, !invariant.load !0
  %t9 = icmp slt i64 0, %t4
  br i1 %t9, label %loop7, label %done8
loop7:
  %t12 = phi i64 [ 0, %entry ], [ %t10, %next11 ]
  %t13 = getelementptr inbounds float, ptr %t0, i64 %t12
  %t14 = load float, ptr %t13, align 4, !alias.scope !9, !noalias !10
  %t15 = fmul float %t14, %t6
  %t16 = getelementptr inbounds float, ptr %t2, i64 %t12
  store float %t15, ptr %t16, align 4, !alias.scope !12, !noalias !13
  br label %next11
next11:
  %t10 = add nsw i64 %t12, 1
  %t17 = icmp slt i64 %t10, %t4
  br i1 %t17, label %loop7, label %done8, !llvm.loop !14
done8:
  ret i32 0
}


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
