target triple = "x86_64-unknown-linux-gnu"

define i32 @lathe_Y_a72bcabac575443b(ptr %slots, ptr %rt) #0 {
entry:
  %t0 = load ptr, ptr %slots, align 8, !invariant.load !0
  %t1 = getelementptr inbounds i64, ptr %slots, i64 1
  %t2 = load ptr, ptr %t1, align 8, !invariant.load !0
  %t3 = getelementptr inbounds i64, ptr %slots, i64 2
  %t4 = load ptr, ptr %t3, align 8, !invariant.load !0
  br label %loop5
loop5:
  %t9 = phi i64 [ 0, %entry ], [ %t7, %next8 ]
  br label %loop10
loop10:
  %t14 = phi i64 [ 0, %loop5 ], [ %t12, %next13 ]
  %t15 = mul i64 %t14, 32
  %t16 = mul i64 %t9, 256
  %t17 = add i64 %t15, %t16
  %t18 = getelementptr inbounds float, ptr %t0, i64 %t17
  %t19 = load <16 x float>, ptr %t18, align 4, !alias.scope !9, !noalias !10
  %t20 = getelementptr inbounds float, ptr %t2, i64 %t15
  %t21 = load <16 x float>, ptr %t20, align 4, !alias.scope !12, !noalias !13
  %t22 = fadd <16 x float> %t19, %t21
  %t23 = fmul <16 x float> %t22, %t22
  %t24 = getelementptr inbounds float, ptr %t4, i64 %t17
  store <16 x float> %t23, ptr %t24, align 4, !alias.scope !15, !noalias !16
  %t25 = add i64 %t17, 16
  %t26 = getelementptr inbounds float, ptr %t0, i64 %t25
  %t27 = load <16 x float>, ptr %t26, align 4, !alias.scope !9, !noalias !10
  %t28 = add i64 %t15, 16
  %t29 = getelementptr inbounds float, ptr %t2, i64 %t28
  %t30 = load <16 x float>, ptr %t29, align 4, !alias.scope !12, !noalias !13
  %t31 = fadd <16 x float> %t27, %t30
  %t32 = fmul <16 x float> %t31, %t31
  %t33 = getelementptr inbounds float, ptr %t4, i64 %t25
  store <16 x float> %t32, ptr %t33, align 4, !alias.scope !15, !noalias !16
  br label %next13
next13:
  %t12 = add nsw i64 %t14, 1
  %t34 = icmp slt i64 %t12, 8
  br i1 %t34, label %loop10, label %done11, !llvm.loop !17
done11:
  br label %next8
next8:
  %t7 = add nsw i64 %t9, 1
  %t35 = icmp slt i64 %t7, 64
  br i1 %t35, label %loop5, label %done6, !llvm.loop !18
done6:
  ret i32 0
}


attributes #0 = { nounwind "target-cpu"="znver4" "target-features"="-avxvnni,-avxifma,-avxneconvert,-avxvnniint8,-avx512vbmi,-avx512fp16,-amx-tile,-amx-int8,-amx-bf16,+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+cx16,+aes,+pclmul,+avx,+f16c,+fma,+avx2,+bmi,+bmi2,+lzcnt,+movbe,+avx512f,+avx512cd,+avx512bw,+avx512dq,+avx512vl,+avx512ifma,+avx512vbmi2,+avx512bitalg,+avx512vnni,+avx512vpopcntdq,+avx512bf16,+gfni,+vaes,+vpclmulqdq" "prefer-vector-width"="512" "no-trapping-math"="true" }
attributes #1 = { nounwind }

!0 = !{}
!1 = distinct !{!1, !"buffers"}
!2 = !{!"llvm.loop.unroll.disable"}
!3 = !{!"llvm.loop.vectorize.enable", i1 false}
!4 = !{i32 1}
!8 = distinct !{!8, !1, !"X"}
!9 = !{!8}
!11 = distinct !{!11, !1, !"bias"}
!12 = !{!11}
!14 = distinct !{!14, !1, !"Y"}
!15 = !{!14}
!17 = distinct !{!17, !2, !3}
!18 = distinct !{!18, !2, !3}
!10 = !{!11, !14}
!13 = !{!8, !14}
!16 = !{!8, !11}
