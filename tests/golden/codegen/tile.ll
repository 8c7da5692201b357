target triple = "x86_64-unknown-linux-gnu"

define i32 @lathe_tile(ptr %slots, ptr %rt) #0 {
entry:
  %f9 = alloca <16 x float>, align 64
  %f10 = alloca <16 x float>, align 64
  %f11 = alloca <16 x float>, align 64
  %f12 = alloca <16 x float>, align 64
  %t0 = load ptr, ptr %slots, align 8, !invariant.load !0
  %t1 = getelementptr inbounds i64, ptr %slots, i64 1
  %t2 = load ptr, ptr %t1, align 8, !invariant.load !0
  %t3 = getelementptr inbounds i64, ptr %slots, i64 2
  %t4 = load ptr, ptr %t3, align 8, !invariant.load !0
  %t5 = getelementptr inbounds i64, ptr %slots, i64 3
  %t6 = load i64, ptr %t5, align 8, !invariant.load !0
  %t7 = getelementptr inbounds i64, ptr %slots, i64 4
  %t8 = load i64, ptr %t7, align 8, !invariant.load !0
  store <16 x float> zeroinitializer, ptr %f9, align 64
  store <16 x float> zeroinitializer, ptr %f10, align 64
  store <16 x float> zeroinitializer, ptr %f11, align 64
  store <16 x float> zeroinitializer, ptr %f12, align 64
  %t13 = mul i64 %t8, 0
  %t14 = add i64 %t13, 0
  %t15 = getelementptr inbounds float, ptr %t4, i64 %t14
  %t16 = load <16 x float>, ptr %t15, align 4, !alias.scope !15, !noalias !16
  store <16 x float> %t16, ptr %f12, align 64
  %t17 = add i64 %t13, 16
  %t18 = getelementptr inbounds float, ptr %t4, i64 %t17
  %t19 = load <16 x float>, ptr %t18, align 4, !alias.scope !15, !noalias !16
  store <16 x float> %t19, ptr %f11, align 64
  %t20 = mul i64 %t8, 1
  %t21 = add i64 %t20, 0
  %t22 = getelementptr inbounds float, ptr %t4, i64 %t21
  %t23 = load <16 x float>, ptr %t22, align 4, !alias.scope !15, !noalias !16
  store <16 x float> %t23, ptr %f10, align 64
  %t24 = add i64 %t20, 16
  %t25 = getelementptr inbounds float, ptr %t4, i64 %t24
  %t26 = load <16 x float>, ptr %t25, align 4, !alias.scope !15, !noalias !16
  store <16 x float> %t26, ptr %f9, align 64
  %t29 = icmp slt i64 0, %t6
  br i1 %t29, label %loop27, label %done28
loop27:
  %t32 = phi i64 [ 0, %entry ], [ %t30, %next31 ]
  %t33 = mul i64 %t32, 2
  %t34 = add i64 %t33, 0
  %t35 = getelementptr inbounds float, ptr %t0, i64 %t34
  %t36 = load float, ptr %t35, align 4, !alias.scope !9, !noalias !10
  %t37 = insertelement <16 x float> poison, float %t36, i64 0
  %t38 = shufflevector <16 x float> %t37, <16 x float> poison, <16 x i32> zeroinitializer
  %t39 = mul i64 %t32, 32
  %t40 = add i64 %t39, 0
  %t41 = getelementptr inbounds float, ptr %t2, i64 %t40
  %t42 = load <16 x float>, ptr %t41, align 64, !alias.scope !12, !noalias !13
  %t43 = load <16 x float>, ptr %f12, align 64
  %t44 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t38, <16 x float> %t42, <16 x float> %t43)
  store <16 x float> %t44, ptr %f12, align 64
  %t45 = add i64 %t39, 16
  %t46 = getelementptr inbounds float, ptr %t2, i64 %t45
  %t47 = load <16 x float>, ptr %t46, align 64, !alias.scope !12, !noalias !13
  %t48 = load <16 x float>, ptr %f11, align 64
  %t49 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t38, <16 x float> %t47, <16 x float> %t48)
  store <16 x float> %t49, ptr %f11, align 64
  %t50 = add i64 %t33, 1
  %t51 = getelementptr inbounds float, ptr %t0, i64 %t50
  %t52 = load float, ptr %t51, align 4, !alias.scope !9, !noalias !10
  %t53 = insertelement <16 x float> poison, float %t52, i64 0
  %t54 = shufflevector <16 x float> %t53, <16 x float> poison, <16 x i32> zeroinitializer
  %t55 = load <16 x float>, ptr %f10, align 64
  %t56 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t54, <16 x float> %t42, <16 x float> %t55)
  store <16 x float> %t56, ptr %f10, align 64
  %t57 = load <16 x float>, ptr %f9, align 64
  %t58 = call <16 x float> @llvm.fma.v16f32(<16 x float> %t54, <16 x float> %t47, <16 x float> %t57)
  store <16 x float> %t58, ptr %f9, align 64
  br label %next31
next31:
  %t30 = add nsw i64 %t32, 1
  %t59 = icmp slt i64 %t30, %t6
  br i1 %t59, label %loop27, label %done28, !llvm.loop !17
done28:
  %t60 = load <16 x float>, ptr %f12, align 64
  %t61 = mul i64 %t8, 0
  %t62 = add i64 %t61, 0
  %t63 = getelementptr inbounds float, ptr %t4, i64 %t62
  store <16 x float> %t60, ptr %t63, align 4, !alias.scope !15, !noalias !16
  %t64 = load <16 x float>, ptr %f11, align 64
  %t65 = add i64 %t61, 16
  %t66 = getelementptr inbounds float, ptr %t4, i64 %t65
  store <16 x float> %t64, ptr %t66, align 4, !alias.scope !15, !noalias !16
  %t67 = load <16 x float>, ptr %f10, align 64
  %t68 = mul i64 %t8, 1
  %t69 = add i64 %t68, 0
  %t70 = getelementptr inbounds float, ptr %t4, i64 %t69
  store <16 x float> %t67, ptr %t70, align 4, !alias.scope !15, !noalias !16
  %t71 = load <16 x float>, ptr %f9, align 64
  %t72 = add i64 %t68, 16
  %t73 = getelementptr inbounds float, ptr %t4, i64 %t72
  store <16 x float> %t71, ptr %t73, align 4, !alias.scope !15, !noalias !16
  ret i32 0
}

declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>) #1

attributes #0 = { nounwind "target-cpu"="x86-64-v4" "target-features"="-aes,-pclmul,-avxvnni,-avxifma,-avxneconvert,-avxvnniint8,-avx512ifma,-avx512vbmi,-avx512vbmi2,-avx512bitalg,-avx512vnni,-avx512vpopcntdq,-avx512bf16,-avx512fp16,-gfni,-vaes,-vpclmulqdq,-amx-tile,-amx-int8,-amx-bf16,+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+cx16,+avx,+f16c,+fma,+avx2,+bmi,+bmi2,+lzcnt,+movbe,+avx512f,+avx512cd,+avx512bw,+avx512dq,+avx512vl" "prefer-vector-width"="512" "no-trapping-math"="true" }
attributes #1 = { nounwind }

!0 = !{}
!1 = distinct !{!1, !"buffers"}
!2 = !{!"llvm.loop.unroll.disable"}
!3 = !{!"llvm.loop.vectorize.enable", i1 false}
!4 = !{i32 1}
!8 = distinct !{!8, !1, !"a"}
!9 = !{!8}
!11 = distinct !{!11, !1, !"b"}
!12 = !{!11}
!14 = distinct !{!14, !1, !"c"}
!15 = !{!14}
!17 = distinct !{!17, !2, !3}
!10 = !{!11, !14}
!13 = !{!8, !14}
!16 = !{!8, !11}
