target triple = "x86_64-unknown-linux-gnu"

define internal i32 @lathe_parallel.body0(ptr %closure, i64 %begin, i64 %end, ptr %rt) #0 {
entry:
  %status = alloca i32, align 4
  %t0 = load ptr, ptr %closure, align 8, !invariant.load !0
  %t1 = getelementptr inbounds i64, ptr %closure, i64 1
  %t2 = load ptr, ptr %t1, align 8, !invariant.load !0
  %t3 = getelementptr inbounds i64, ptr %closure, i64 2
  %t4 = load i64, ptr %t3, align 8, !invariant.load !0
  %t7 = icmp slt i64 %begin, %end
  br i1 %t7, label %enter5, label %done6
enter5:
  %t8 = mul i64 %t4, 4
  %t9 = call ptr @lathe_alloc(ptr %rt, i64 %t8, i64 64)
  %t12 = icmp eq ptr %t9, null
  br i1 %t12, label %memory11, label %holds10
memory11:
  store i32 1, ptr %status, align 4
  br label %fail
holds10:
  br label %loop14
loop14:
  %t18 = phi i64 [ %begin, %holds10 ], [ %t16, %next17 ]
  %t21 = icmp slt i64 0, %t4
  br i1 %t21, label %loop19, label %done20
loop19:
  %t24 = phi i64 [ 0, %loop14 ], [ %t22, %next23 ]
  %t25 = mul i64 %t18, %t4
  %t26 = add i64 %t25, %t24
  %t27 = getelementptr inbounds float, ptr %t0, i64 %t26
  %t28 = load float, ptr %t27, align 4, !alias.scope !9, !noalias !10
  %t29 = getelementptr inbounds float, ptr %t9, i64 %t24
  store float %t28, ptr %t29, align 4, !alias.scope !15, !noalias !16
  br label %next23
next23:
  %t22 = add nsw i64 %t24, 1
  %t30 = icmp slt i64 %t22, %t4
  br i1 %t30, label %loop19, label %done20, !llvm.loop !17
done20:
  %t33 = icmp slt i64 %t18, 1000
  br i1 %t33, label %holds32, label %assert31
assert31:
  store i32 16, ptr %status, align 4
  br label %fail13
holds32:
  %t34 = load <16 x float>, ptr %t9, align 64, !alias.scope !15, !noalias !16
  %t35 = mul i64 %t18, %t4
  %t36 = getelementptr inbounds float, ptr %t2, i64 %t35
  %t37 = ptrtoint ptr %t36 to i64
  %t41 = and i64 %t37, 63
  %t42 = icmp eq i64 %t41, 0
  br i1 %t42, label %aligned39, label %other40
aligned39:
  store <16 x float> %t34, ptr %t36, align 64, !nontemporal !4, !alias.scope !12, !noalias !13
  br label %done38
other40:
  %t45 = and i64 %t37, 15
  %t46 = icmp eq i64 %t45, 0
  br i1 %t46, label %aligned43, label %other44
aligned43:
  %t47 = shufflevector <16 x float> %t34, <16 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  store <4 x float> %t47, ptr %t36, align 16, !nontemporal !4, !alias.scope !12, !noalias !13
  %t48 = shufflevector <16 x float> %t34, <16 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %t49 = getelementptr i8, ptr %t36, i64 16
  store <4 x float> %t48, ptr %t49, align 16, !nontemporal !4, !alias.scope !12, !noalias !13
  %t50 = shufflevector <16 x float> %t34, <16 x float> poison, <4 x i32> <i32 8, i32 9, i32 10, i32 11>
  %t51 = getelementptr i8, ptr %t36, i64 32
  store <4 x float> %t50, ptr %t51, align 16, !nontemporal !4, !alias.scope !12, !noalias !13
  %t52 = shufflevector <16 x float> %t34, <16 x float> poison, <4 x i32> <i32 12, i32 13, i32 14, i32 15>
  %t53 = getelementptr i8, ptr %t36, i64 48
  store <4 x float> %t52, ptr %t53, align 16, !nontemporal !4, !alias.scope !12, !noalias !13
  br label %done38
other44:
  store <16 x float> %t34, ptr %t36, align 4, !alias.scope !12, !noalias !13
  br label %done38
done38:
  br label %next17
next17:
  %t16 = add nsw i64 %t18, 1
  %t54 = icmp slt i64 %t16, %end
  br i1 %t54, label %loop14, label %done15, !llvm.loop !18
done15:
  call void @lathe_free(ptr %rt, ptr %t9)
  br label %done55
fail13:
  call void @lathe_free(ptr %rt, ptr %t9)
  br label %fail
done55:
  br label %done6
done6:
  call void @llvm.x86.sse.sfence()
  ret i32 0
fail:
  %t56 = load i32, ptr %status, align 4
  call void @llvm.x86.sse.sfence()
  ret i32 %t56
}

define i32 @lathe_parallel(ptr %slots, ptr %rt) #0 {
entry:
  %f5 = alloca [3 x i64], align 8
  %status = alloca i32, align 4
  %t0 = load ptr, ptr %slots, align 8, !invariant.load !0
  %t1 = getelementptr inbounds i64, ptr %slots, i64 1
  %t2 = load ptr, ptr %t1, align 8, !invariant.load !0
  %t3 = getelementptr inbounds i64, ptr %slots, i64 2
  %t4 = load i64, ptr %t3, align 8, !invariant.load !0
  store ptr %t0, ptr %f5, align 8
  %t6 = getelementptr inbounds i64, ptr %f5, i64 1
  store ptr %t2, ptr %t6, align 8
  %t7 = getelementptr inbounds i64, ptr %f5, i64 2
  store i64 %t4, ptr %t7, align 8
  %t8 = call i32 @lathe_parallel_for(ptr %rt, i64 %t4, i64 0, ptr @lathe_parallel.body0, ptr %f5)
  %t11 = icmp eq i32 %t8, 0
  br i1 %t11, label %holds10, label %failed9
failed9:
  store i32 %t8, ptr %status, align 4
  br label %fail
holds10:
  ret i32 0
fail:
  %t12 = load i32, ptr %status, align 4
  ret i32 %t12
}

declare ptr @lathe_alloc(ptr, i64, i64) #1
declare void @lathe_free(ptr, ptr) #1
declare void @llvm.x86.sse.sfence() #1
declare i32 @lathe_parallel_for(ptr, i64, i64, ptr, ptr) #1

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
!14 = distinct !{!14, !1, !"t"}
!15 = !{!14}
!17 = distinct !{!17, !2, !3}
!18 = distinct !{!18, !2, !3}
!10 = !{!11, !14}
!13 = !{!8, !14}
!16 = !{!8, !11}
