// The functions of OpenCL C that kernels call, for drivers that would else read all of them from clang's opencl-c.h.
// Types, as_<type>, and the flags of fences come from opencl-c-base.h.
#define BUILTIN __attribute__((overloadable))
#define PURE __attribute__((overloadable, const))

PURE size_t get_local_id(uint dimension);
PURE size_t get_group_id(uint dimension);
BUILTIN __attribute__((convergent)) void barrier(cl_mem_fence_flags flags);
BUILTIN void mem_fence(cl_mem_fence_flags flags);

PURE uint min(uint a, uint b);
PURE uint max(uint a, uint b);
PURE uint clz(uint a);
PURE uint popcount(uint a);
PURE uint mul_hi(uint a, uint b);
PURE int any(int2 a);
PURE int any(int4 a);
PURE int all(int2 a);
PURE int all(int4 a);
PURE uint convert_uint(float a);
PURE float convert_float(uint a);

#define ATOMIC(name) \
    BUILTIN uint atomic_##name(volatile __global uint* at, uint value); \
    BUILTIN uint atomic_##name(volatile __local uint* at, uint value);
ATOMIC(add)
ATOMIC(and)
ATOMIC(or)
ATOMIC(max)
ATOMIC(xchg)
#undef ATOMIC
BUILTIN uint atomic_cmpxchg(volatile __global uint* at, uint compared, uint value);
BUILTIN uint atomic_cmpxchg(volatile __local uint* at, uint compared, uint value);
#undef BUILTIN
#undef PURE
