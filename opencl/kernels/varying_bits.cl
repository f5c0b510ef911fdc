// Kernel varying_bits in OpenCL C 1.2, translated from shaders/varying_bits.comp by make generate; do not edit.
// Variants:
//   key_bits=32 serial=0
//   key_bits=32 serial=1
//   key_bits=64 serial=0
//   key_bits=64 serial=1

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#ifndef DEVICE_FENCE
#define DEVICE_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
#pragma OPENCL FP_CONTRACT OFF

#if KEY_BITS == 32
typedef struct {
    uint all_;
    uint any_;
    uint descents;
} Bits;

INLINE bool less(uint a, uint b) {
    return a < b;
}

INLINE Bits bits_of(uint key, uint before) {
    return (Bits){key, key, less(key, before) ? 1u : 0u};
}
#endif

typedef struct {
    ulong keys;
    ulong bits;
    uint rows;
    uint tiles;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 keys;
    uint2 bits;
    uint rows;
    uint tiles;
    uint first_group;
    uint end_group;
} Arguments;

INLINE uint rows_left(uint rows, uint first, uint size) {
    return first < rows ? min(size, rows - first) : 0u;
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

#if KEY_BITS == 32 && SERIAL == 0
typedef struct {
    uint v[4];
} uint_array;

typedef struct {
    uint_array at;
} Values;

INLINE Values load_values(uint2 address, uint load) {
    uint4 words = ((__global uint4*)as_ulong(address))[load];
    return (Values){(uint_array){{words.x, words.y, words.z, words.w}}};
}
#endif

#if KEY_BITS == 32
INLINE uint key_before(const Arguments* args, uint begin, uint row) {
    uint none = begin == 0u && row == 0u ? 1u : 0u;
    return column32_from(args->keys, begin - (begin > 0u ? 1u : 0u))[row + none - (begin == 0u ? 1u : 0u)];
}

INLINE void write(const Arguments* args, Bits found) {
    __global uint* to = column32_from(args->bits, 0u);
    atomic_and(&to[0], found.all_);
    atomic_or(&to[1], found.any_);
    if (found.descents > 0u) {
        atomic_add(&to[2], found.descents);
    }
}
#endif

#if KEY_BITS == 64
typedef struct {
    uint2 all_;
    uint2 any_;
    uint descents;
} Bits;

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE uint2 key_before(const Arguments* args, uint begin, uint row) {
    uint none = begin == 0u && row == 0u ? 1u : 0u;
    return column64_from(args->keys, begin - (begin > 0u ? 1u : 0u))[row + none - (begin == 0u ? 1u : 0u)];
}

INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
}

INLINE Bits bits_of(uint2 key, uint2 before) {
    return (Bits){key, key, less(key, before) ? 1u : 0u};
}

INLINE void write(const Arguments* args, Bits found) {
    __global uint* to = column32_from(args->bits, 0u);
    atomic_and(&to[0], found.all_.x);
    atomic_and(&to[1], found.all_.y);
    atomic_or(&to[2], found.any_.x);
    atomic_or(&to[3], found.any_.y);
    if (found.descents > 0u) {
        atomic_add(&to[4], found.descents);
    }
}
#endif

#if SERIAL == 0
typedef struct {
    Bits sh_partial[WORKGROUP];
} Shared;
#endif

INLINE Bits combine(Bits a, Bits b) {
    return (Bits){a.all_ & b.all_, a.any_ | b.any_, a.descents + b.descents};
}

#if SERIAL == 0
INLINE Bits workgroup_reduce(__local Shared* shared, Bits own) {
    shared->sh_partial[LOCAL_ID_X] = own;
    uint left = WORKGROUP;
    while (left > 1u) {
        uint kept = (left + 1u) / 2u;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (LOCAL_ID_X + kept < left) {
            own = combine(own, shared->sh_partial[LOCAL_ID_X + kept]);
            shared->sh_partial[LOCAL_ID_X] = own;
        }
        left = kept;
    }
    return own;
}
#endif

#if KEY_BITS == 32 && SERIAL == 0
INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    __global uint* from = column32_from(args->keys, begin);
    uint loads = count / 4u;
    Bits found = (Bits){0xffffffffu, 0u, 0u};
    Values value[8];
    uint before[8];
    for (uint i = LOCAL_ID_X; i < loads; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            uint load = min(i + k * WORKGROUP, loads - 1u);
            value[k] = load_values(as_uint2((ulong)from), load);
            before[k] = key_before(args, begin, load * 4u);
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP >= loads) break;
            found = combine(found, bits_of(value[k].at.v[0], before[k]));
            UNROLL
            for (uint j = 1u; j < 4u; ++j) {
                found = combine(found, bits_of(value[k].at.v[j], value[k].at.v[j - 1u]));
            }
        }
    }
    for (uint last = loads * 4u + LOCAL_ID_X; last < count; last += WORKGROUP) {
        found = combine(found, bits_of(from[last], key_before(args, begin, last)));
    }
    found = workgroup_reduce(shared, found);
    if (LOCAL_ID_X == 0u) {
        write(args, found);
    }
}
#endif

#if KEY_BITS == 32 && SERIAL == 1
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS);
    __global uint* from = column32_from(args->keys, begin);
    Bits found = (Bits){0xffffffffu, 0u, 0u};
    uint before = count > 0u ? key_before(args, begin, 0u) : 0u;
    for (uint i = 0u; i < count; ++i) {
        uint key = from[i];
        found = combine(found, bits_of(key, before));
        before = key;
    }
    write(args, found);
}
#endif

#if KEY_BITS == 64 && SERIAL == 0
typedef struct {
    uint2 v[2];
} uint2_array;

typedef struct {
    uint2_array at;
} Values;

INLINE Values load_values(uint2 address, uint load) {
    uint4 words = ((__global uint4*)as_ulong(address))[load];
    return (Values){(uint2_array){{words.xy, words.zw}}};
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->rows, begin, WORKGROUP * ITEMS);
    __global uint2* from = column64_from(args->keys, begin);
    uint loads = count / 2u;
    Bits found = (Bits){(uint2)(0xffffffffu), (uint2)(0u), 0u};
    Values value[8];
    uint2 before[8];
    for (uint i = LOCAL_ID_X; i < loads; i += 8u * WORKGROUP) {
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            uint load = min(i + k * WORKGROUP, loads - 1u);
            value[k] = load_values(as_uint2((ulong)from), load);
            before[k] = key_before(args, begin, load * 2u);
        }
        UNROLL
        for (uint k = 0u; k < 8u; ++k) {
            if (i + k * WORKGROUP >= loads) break;
            found = combine(found, bits_of(value[k].at.v[0], before[k]));
            UNROLL
            for (uint j = 1u; j < 2u; ++j) {
                found = combine(found, bits_of(value[k].at.v[j], value[k].at.v[j - 1u]));
            }
        }
    }
    for (uint last = loads * 2u + LOCAL_ID_X; last < count; last += WORKGROUP) {
        found = combine(found, bits_of(from[last], key_before(args, begin, last)));
    }
    found = workgroup_reduce(shared, found);
    if (LOCAL_ID_X == 0u) {
        write(args, found);
    }
}
#endif

#if SERIAL == 0
__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void varying_bits(
    __global uchar* keys,
    __global uchar* bits,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)keys + scalars.keys),
        as_uint2((ulong)bits + scalars.bits),
        scalars.rows,
        scalars.tiles,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    __local Shared memory;
    __local Shared* shared = &memory;
    kernel_main(args, shared);
}
#endif

#if KEY_BITS == 64 && SERIAL == 1
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS);
    __global uint2* from = column64_from(args->keys, begin);
    Bits found = (Bits){(uint2)(0xffffffffu), (uint2)(0u), 0u};
    uint2 before = count > 0u ? key_before(args, begin, 0u) : (uint2)(0u);
    for (uint i = 0u; i < count; ++i) {
        uint2 key = from[i];
        found = combine(found, bits_of(key, before));
        before = key;
    }
    write(args, found);
}
#endif

#if SERIAL == 1
__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void varying_bits(
    __global uchar* keys,
    __global uchar* bits,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)keys + scalars.keys),
        as_uint2((ulong)bits + scalars.bits),
        scalars.rows,
        scalars.tiles,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}
#endif
