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
#pragma OPENCL FP_CONTRACT OFF

typedef struct { uint2 keys; uint2 bits; uint rows; uint tiles; uint first_group; uint end_group; } Push;

INLINE uint rows_left(uint rows, uint first, uint size) {
    uint variable;
    if (first < rows) {
        variable = min(size, rows - first);
    } else {
        variable = 0u;
    }
    return variable;
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

#if KEY_BITS == 32
typedef struct { uint all; uint any; uint descents; } Bits;

INLINE uint key_before(const Push* push, uint begin, uint row) {
    uint none = (begin == 0u) && (row == 0u) ? 1u : 0u;
    return column32_from(push->keys, begin - (begin > 0u ? 1u : 0u))[row + none - (begin == 0u ? 1u : 0u)];
}

INLINE bool less(uint a, uint b) {
    return a < b;
}

INLINE Bits bits_of(uint key, uint before) {
    return (Bits){key, key, less(key, before) ? 1u : 0u};
}

INLINE void write(const Push* push, Bits found) {
    __global uint* to = column32_from(push->bits, 0u);
    atomic_and(&to[0], found.all);
    atomic_or(&to[1], found.any);
    if (found.descents > 0u) {
        atomic_add(&to[2], found.descents);
    }
}

#endif

#if KEY_BITS == 32 && SERIAL == 0
typedef struct { uint v[4u]; } uint_x4u;

typedef struct { uint_x4u at; } Values;

INLINE Values load_values(uint2 address, uint load) {
    uint4 words_ = ((__global uint4*)as_ulong(address))[load];
    return (Values){(uint_x4u){{words_.x, words_.y, words_.z, words_.w}}};
}

typedef struct { uint v[8u]; } uint_x8u;

#endif

#if KEY_BITS == 64
typedef struct { uint2 all; uint2 any; uint descents; } Bits;

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE uint2 key_before(const Push* push, uint begin, uint row) {
    uint none = (begin == 0u) && (row == 0u) ? 1u : 0u;
    return column64_from(push->keys, begin - (begin > 0u ? 1u : 0u))[row + none - (begin == 0u ? 1u : 0u)];
}

INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
}

INLINE Bits bits_of(uint2 key, uint2 before) {
    return (Bits){key, key, less(key, before) ? 1u : 0u};
}

INLINE void write(const Push* push, Bits found) {
    __global uint* to = column32_from(push->bits, 0u);
    atomic_and(&to[0], found.all.x);
    atomic_and(&to[1], found.all.y);
    atomic_or(&to[2], found.any.x);
    atomic_or(&to[3], found.any.y);
    if (found.descents > 0u) {
        atomic_add(&to[4], found.descents);
    }
}

#endif

#if SERIAL == 0
typedef struct { Bits v[WORKGROUP]; } Bits_xworkgroup;

typedef struct {
    Bits_xworkgroup sh_partial;
} Shared;

#endif

INLINE Bits combine(Bits a, Bits b) {
    return (Bits){a.all & b.all, a.any | b.any, a.descents + b.descents};
}

#if SERIAL == 0
INLINE Bits workgroup_reduce(__local Shared* shared, Bits* own_) {
    shared->sh_partial.v[LOCAL_ID_X] = *own_;
    uint left = WORKGROUP;
    while (left > 1u) {
        uint kept = (left + 1u) / 2u;
        barrier(CLK_LOCAL_MEM_FENCE);
        if ((LOCAL_ID_X + kept) < left) {
            *own_ = combine(*own_, shared->sh_partial.v[LOCAL_ID_X + kept]);
            shared->sh_partial.v[LOCAL_ID_X] = *own_;
        }
        left = kept;
    }
    return *own_;
}

#endif

#if KEY_BITS == 32 && SERIAL == 1
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS);
    __global uint* from = column32_from(push->keys, begin);
    Bits found = (Bits){4294967295u, 0u, 0u};
    uint variable;
    if (count > 0u) {
        variable = key_before(push, begin, 0u);
    } else {
        variable = 0u;
    }
    uint before = variable;
    uint i = 0u;
    for (; i < count; i = i + 1) {
        uint key = from[i];
        found = combine(found, bits_of(key, before));
        before = key;
    }
    write(push, found);
}

#endif

#if KEY_BITS == 64 && SERIAL == 0
typedef struct { uint2 v[2u]; } uint2_x2u;

typedef struct { uint2_x2u at; } Values;

INLINE Values load_values(uint2 address, uint load) {
    uint4 words_ = ((__global uint4*)as_ulong(address))[load];
    uint4 value = words_;
    uint4 value_2 = words_;
    return (Values){(uint2_x2u){{value.xy, value_2.zw}}};
}

typedef struct { uint2 v[8u]; } uint2_x8u;

#endif

#if SERIAL == 0
typedef struct { Values v[8u]; } Values_x8u;

#endif

#if KEY_BITS == 32 && SERIAL == 0
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint* from = column32_from(push->keys, begin);
    uint loads = count / 4u;
    Bits found = (Bits){4294967295u, 0u, 0u};
    uint i = LOCAL_ID_X;
    Values_x8u value;
    uint_x8u before;
    for (; i < loads; i = i + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            uint load = min(i + k * WORKGROUP, loads - 1u);
            value.v[k] = load_values(as_uint2((ulong)from), load);
            before.v[k] = key_before(push, begin, load * 4u);
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            if ((i + k_2 * WORKGROUP) >= loads) {
                break;
            }
            found = combine(found, bits_of(value.v[k_2].at.v[0], before.v[k_2]));
            uint j = 1u;
            UNROLL
            for (; j < 4u; j = j + 1) {
                found = combine(found, bits_of(value.v[k_2].at.v[j], value.v[k_2].at.v[j - 1u]));
            }
        }
    }
    uint last = loads * 4u + LOCAL_ID_X;
    if (last < count) {
        found = combine(found, bits_of(from[last], key_before(push, begin, last)));
    }
    Bits param_24 = found;
    found = workgroup_reduce(shared, &param_24);
    if (LOCAL_ID_X == 0u) {
        write(push, found);
    }
}

#endif

#if KEY_BITS == 64 && SERIAL == 0
INLINE void run(const Push* push, __local Shared* shared) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint2* from = column64_from(push->keys, begin);
    uint loads = count / 2u;
    Bits found = (Bits){(uint2)(4294967295u), (uint2)(0u), 0u};
    uint i = LOCAL_ID_X;
    Values_x8u value;
    uint2_x8u before;
    for (; i < loads; i = i + 8u * WORKGROUP) {
        uint k = 0u;
        UNROLL
        for (; k < 8u; k = k + 1) {
            uint load = min(i + k * WORKGROUP, loads - 1u);
            value.v[k] = load_values(as_uint2((ulong)from), load);
            before.v[k] = key_before(push, begin, load * 2u);
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < 8u; k_2 = k_2 + 1) {
            if ((i + k_2 * WORKGROUP) >= loads) {
                break;
            }
            found = combine(found, bits_of(value.v[k_2].at.v[0], before.v[k_2]));
            uint j = 1u;
            UNROLL
            for (; j < 2u; j = j + 1) {
                found = combine(found, bits_of(value.v[k_2].at.v[j], value.v[k_2].at.v[j - 1u]));
            }
        }
    }
    uint last = loads * 2u + LOCAL_ID_X;
    if (last < count) {
        found = combine(found, bits_of(from[last], key_before(push, begin, last)));
    }
    Bits param_24 = found;
    found = workgroup_reduce(shared, &param_24);
    if (LOCAL_ID_X == 0u) {
        write(push, found);
    }
}

#endif

#if SERIAL == 0
typedef struct {
    ulong keys;
    ulong bits;
    uint rows;
    uint tiles;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void varying_bits(__global uchar* keys, __global uchar* bits, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    const Push addresses = {
        as_uint2((ulong)keys + words.keys),
        as_uint2((ulong)bits + words.bits),
        words.rows,
        words.tiles,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared);
}

#endif

#if KEY_BITS == 64 && SERIAL == 1
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS);
    __global uint2* from = column64_from(push->keys, begin);
    Bits found = (Bits){(uint2)(4294967295u), (uint2)(0u), 0u};
    uint2 variable;
    if (count > 0u) {
        variable = key_before(push, begin, 0u);
    } else {
        variable = (uint2)(0u);
    }
    uint2 before = variable;
    uint i = 0u;
    for (; i < count; i = i + 1) {
        uint2 key = from[i];
        found = combine(found, bits_of(key, before));
        before = key;
    }
    write(push, found);
}

#endif

#if SERIAL == 1
typedef struct {
    ulong keys;
    ulong bits;
    uint rows;
    uint tiles;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void varying_bits(__global uchar* keys, __global uchar* bits, const Words words) {
    const Push addresses = {
        as_uint2((ulong)keys + words.keys),
        as_uint2((ulong)bits + words.bits),
        words.rows,
        words.tiles,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

#endif
