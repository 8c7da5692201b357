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
  br i1 %t7, label %loop5, label %done6
loop5:
  %t10 = phi i64 [ %begin, %entry ], [ %t8, %next9 ]
  %t11 = mul i64 %t4, 4
  %t12 = call ptr @lathe_alloc(ptr %rt, i64 %t11, i64 64)
  %t15 = icmp eq ptr %t12, null
  br i1 %t15, label %memory14, label %holds13
memory14:
  store i32 1, ptr %status, align 4
  br label %fail
holds13:
  %t19 = icmp slt i64 0, %t4
  br i1 %t19, label %loop17, label %done18
loop17:
  %t22 = phi i64 [ 0, %holds13 ], [ %t20, %next21 ]
  %t23 = mul i64 %t10, %t4
  %t24 = add i64 %t23, %t22
  %t25 = getelementptr inbounds float, ptr %t0, i64 %t24
  %t26 = load float, ptr %t25, align 4, !alias.scope !9, !noalias !10
  %t27 = getelementptr inbounds float, ptr %t12, i64 %t22
  store float %t26, ptr %t27, align 4, !alias.scope !15, !noalias !16
  br label %next21
next21:
  %t20 = add nsw i64 %t22, 1
  %t28 = icmp slt i64 %t20, %t4
  br i1 %t28, label %loop17, label %done18, !llvm.loop !17
done18:
  %t31 = icmp slt i64 %t10, 1000
  br i1 %t31, label %holds30, label %assert29
assert29:
  store i32 16, ptr %status, align 4
  br label %fail16
holds30:
  %t32 = load <16 x float>, ptr %t12, align 64, !alias.scope !15, !noalias !16
  %t33 = mul i64 %t10, %t4
  %t34 = getelementptr inbounds float, ptr %t2, i64 %t33
  %t35 = ptrtoint ptr %t34 to i64
  %t39 = and i64 %t35, 63
  %t40 = icmp eq i64 %t39, 0
  br i1 %t40, label %aligned37, label %other38
aligned37:
  store <16 x float> %t32, ptr %t34, align 64, !nontemporal !4, !alias.scope !12, !noalias !13
  br label %done36
other38:
  %t43 = and i64 %t35, 15
  %t44 = icmp eq i64 %t43, 0
  br i1 %t44, label %aligned41, label %other42
aligned41:
  %t45 = shufflevector <16 x float> %t32, <16 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  store <4 x float> %t45, ptr %t34, align 16, !nontemporal !4, !alias.scope !12, !noalias !13
  %t46 = shufflevector <16 x float> %t32, <16 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %t47 = getelementptr i8, ptr %t34, i64 16
  store <4 x float> %t46, ptr %t47, align 16, !nontemporal !4, !alias.scope !12, !noalias !13
  %t48 = shufflevector <16 x float> %t32, <16 x float> poison, <4 x i32> <i32 8, i32 9, i32 10, i32 11>
  %t49 = getelementptr i8, ptr %t34, i64 32
  store <4 x float> %t48, ptr %t49, align 16, !nontemporal !4, !alias.scope !12, !noalias !13
  %t50 = shufflevector <16 x float> %t32, <16 x float> poison, <4 x i32> <i32 12, i32 13, i32 14, i32 15>
  %t51 = getelementptr i8, ptr %t34, i64 48
  store <4 x float> %t50, ptr %t51, align 16, !nontemporal !4, !alias.scope !12, !noalias !13
  br label %done36
other42:
  store <16 x float> %t32, ptr %t34, align 4, !alias.scope !12, !noalias !13
  br label %done36
done36:
  call void @lathe_free(ptr %rt, ptr %t12)
  br label %done52
fail16:
  call void @lathe_free(ptr %rt, ptr %t12)
  br label %fail
done52:
  br label %next9
next9:
  %t8 = add nsw i64 %t10, 1
  %t53 = icmp slt i64 %t8, %end
  br i1 %t53, label %loop5, label %done6, !llvm.loop !18
done6:
  call void @llvm.x86.sse.sfence()
  ret i32 0
fail:
  %t54 = load i32, ptr %status, align 4
  call void @llvm.x86.sse.sfence()
  ret i32 %t54
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
