	.file	"kernel"
	.text
	.globl	lathe_Y_a72bcabac575443b
	.p2align	4
	.type	lathe_Y_a72bcabac575443b,@function
lathe_Y_a72bcabac575443b:
	movq	(%rdi), %rax
	movq	8(%rdi), %rcx
	movq	16(%rdi), %rdx
	xorl	%esi, %esi
	.p2align	4
.LBB0_1:
	movq	$-1, %rdi
	movl	$64, %r8d
	.p2align	4
.LBB0_2:
	vmovups	-64(%rax,%r8), %zmm0
	incq	%rdi
	vaddps	-64(%rcx,%r8), %zmm0, %zmm0
	vmulps	%zmm0, %zmm0, %zmm0
	vmovups	%zmm0, -64(%rdx,%r8)
	vmovups	(%rax,%r8), %zmm0
	vaddps	(%rcx,%r8), %zmm0, %zmm0
	vmulps	%zmm0, %zmm0, %zmm0
	vmovups	%zmm0, (%rdx,%r8)
	subq	$-128, %r8
	cmpq	$7, %rdi
	jb	.LBB0_2
	addq	$1024, %rax
	addq	$1024, %rdx
	cmpq	$63, %rsi
	leaq	1(%rsi), %rsi
	jb	.LBB0_1
	xorl	%eax, %eax
	vzeroupper
	retq
.Lfunc_end0:
	.size	lathe_Y_a72bcabac575443b, .Lfunc_end0-lathe_Y_a72bcabac575443b

	.section	".note.GNU-stack","",@progbits
