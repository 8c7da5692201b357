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
  %t19 = call i64 asm "", "=r,0"(i64 %t18) nounwind willreturn memory(none)
  %t22 = icmp slt i64 0, %t4
  br i1 %t22, label %loop20, label %done21
loop20:
  %t25 = phi i64 [ 0, %loop14 ], [ %t23, %next24 ]
  %t26 = mul i64 %t19, %t4
  %t27 = add i64 %t26, %t25
  %t28 = getelementptr inbounds float, ptr %t0, i64 %t27
  %t29 = load float, ptr %t28, align 4, !alias.scope !9, !noalias !10
  %t30 = getelementptr inbounds float, ptr %t9, i64 %t25
  store float %t29, ptr %t30, align 4, !alias.scope !15, !noalias !16
  br label %next24
next24:
  %t23 = add nsw i64 %t25, 1
  %t31 = icmp slt i64 %t23, %t4
  br i1 %t31, label %loop20, label %done21, !llvm.loop !17
done21:
  %t34 = icmp slt i64 %t19, 1000
  br i1 %t34, label %holds33, label %assert32
assert32:
  store i32 16, ptr %status, align 4
  br label %fail13
holds33:
  %t35 = load <16 x float>, ptr %t9, align 64, !alias.scope !15, !noalias !16
  %t36 = mul i64 %t19, %t4
  %t37 = getelementptr inbounds float, ptr %t2, i64 %t36
  %t38 = ptrtoint ptr %t37 to i64
  %t42 = and i64 %t38, 63
  %t43 = icmp eq i64 %t42, 0
  br i1 %t43, label %aligned40, label %other41
aligned40:
  store <16 x float> %t35, ptr %t37, align 64, !nontemporal !4, !alias.scope !12, !noalias !13
  br label %done39
other41:
  %t46 = and i64 %t38, 15
  %t47 = icmp eq i64 %t46, 0
  br i1 %t47, label %aligned44, label %other45
aligned44:
  %t48 = shufflevector <16 x float> %t35, <16 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  store <4 x float> %t48, ptr %t37, align 16, !nontemporal !4, !alias.scope !12, !noalias !13
  %t49 = shufflevector <16 x float> %t35, <16 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %t50 = getelementptr i8, ptr %t37, i64 16
  store <4 x float> %t49, ptr %t50, align 16, !nontemporal !4, !alias.scope !12, !noalias !13
  %t51 = shufflevector <16 x float> %t35, <16 x float> poison, <4 x i32> <i32 8, i32 9, i32 10, i32 11>
  %t52 = getelementptr i8, ptr %t37, i64 32
  store <4 x float> %t51, ptr %t52, align 16, !nontemporal !4, !alias.scope !12, !noalias !13
  %t53 = shufflevector <16 x float> %t35, <16 x float> poison, <4 x i32> <i32 12, i32 13, i32 14, i32 15>
  %t54 = getelementptr i8, ptr %t37, i64 48
  store <4 x float> %t53, ptr %t54, align 16, !nontemporal !4, !alias.scope !12, !noalias !13
  br label %done39
other45:
  store <16 x float> %t35, ptr %t37, align 4, !alias.scope !12, !noalias !13
  br label %done39
done39:
  br label %next17
next17:
  %t16 = add nsw i64 %t18, 1
  %t55 = icmp slt i64 %t16, %end
  br i1 %t55, label %loop14, label %done15, !llvm.loop !18
done15:
  call void @lathe_free(ptr %rt, ptr %t9)
  br label %done56
fail13:
  call void @lathe_free(ptr %rt, ptr %t9)
  br label %fail
done56:
  br label %done6
done6:
  call void @llvm.x86.sse.sfence()
  ret i32 0
fail:
  %t57 = load i32, ptr %status, align 4
  call void @llvm.x86.sse.sfence()
  ret i32 %t57
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
