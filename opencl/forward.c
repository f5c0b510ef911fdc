//go:build opencl && linux

#include "shim.h"
#include <dlfcn.h>

// The functions of OpenCL, for the binding and the shim. Each jumps to its namesake in the library that sjcl_load opens, so
// that no program is linked to the library. They are hidden: a driver must call its own functions, not these.

#define P1(A) A a
#define P2(A, B) P1(A), B b
#define P3(A, B, C) P2(A, B), C c
#define P4(A, B, C, D) P3(A, B, C), D d
#define P5(A, B, C, D, E) P4(A, B, C, D), E e
#define P6(A, B, C, D, E, F) P5(A, B, C, D, E), F f
#define P7(A, B, C, D, E, F, G) P6(A, B, C, D, E, F), G g
#define P9(A, B, C, D, E, F, G, H, I) P7(A, B, C, D, E, F, G), H h, I i
#define P10(A, B, C, D, E, F, G, H, I, J) P9(A, B, C, D, E, F, G, H, I), J j
#define P11(A, B, C, D, E, F, G, H, I, J, K) P10(A, B, C, D, E, F, G, H, I, J), K k
#define P12(A, B, C, D, E, F, G, H, I, J, K, L) P11(A, B, C, D, E, F, G, H, I, J, K), L l
#define A1 a
#define A2 A1, b
#define A3 A2, c
#define A4 A3, d
#define A5 A4, e
#define A6 A5, f
#define A7 A6, g
#define A9 A7, h, i
#define A10 A9, j
#define A11 A10, k
#define A12 A11, l

#define FORWARD(n, result, name, ...) \
	static __typeof__(&cl##name) name; \
	__attribute__((visibility("hidden"))) result cl##name(P##n(__VA_ARGS__)) { return name(A##n); }
CL_FUNCTIONS(FORWARD)

const char *sjcl_load(const char *library) {
	void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (!opened)
		return dlerror();
#define EXPECT(n, result, name, ...) \
	if (!dlsym(opened, "cl" #name)) \
		return "it is older than OpenCL 1.2: it has no function cl" #name;
	CL_FUNCTIONS(EXPECT)
#define FIND(n, result, name, ...) name = (__typeof__(name))dlsym(opened, "cl" #name);
	CL_FUNCTIONS(FIND)
	return NULL;
}
