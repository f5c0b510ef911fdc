// Kernel range_search in OpenCL C 1.2, translated from shaders/range_search.comp by make generate; do not edit.
// Variants:
//   key_bits=32 serial=0 shared=0
//   key_bits=32 serial=0 shared=1
//   key_bits=32 serial=1 shared=0
//   key_bits=64 serial=0 shared=0
//   key_bits=64 serial=0 shared=1
//   key_bits=64 serial=1 shared=0

#ifndef SUBGROUPS
#if SERIAL == 0 && SHARED == 0
#error "range_search: this variant needs subgroups"
#endif
#endif

#define LOCAL_ID_X ((uint)get_local_id(0))
#define WORKGROUP_ID_X ((uint)get_group_id(0))
#define WORKGROUP_ID_Y ((uint)get_group_id(1))
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#ifndef DEVICE_FENCE
#define DEVICE_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
#pragma OPENCL FP_CONTRACT OFF

#if SERIAL == 0
#define BATCH_ROWS (WORKGROUP * BATCH)

#define STAGE_ROWS (WORKGROUP * STAGE)
#endif

typedef struct {
    ulong left_keys;
    ulong right_keys;
    ulong begins;
    ulong counts;
    ulong tile_totals;
    uint left_rows;
    uint right_rows;
    uint tiles;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 left_keys;
    uint2 right_keys;
    uint2 begins;
    uint2 counts;
    uint2 tile_totals;
    uint left_rows;
    uint right_rows;
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

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

INLINE uint2 add(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) + as_ulong(b));
}

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

#if KEY_BITS == 32 && SERIAL == 0 && SHARED == 0
typedef struct {
    uint sh_low[2];
    uint sh_passed[2];
    uint2 sh_subgroup_sum[(WORKGROUP + 3u) / 4u];
    uint sh_left[BATCH_ROWS];
    uint sh_right[STAGE_ROWS];
    uint sh_place[BATCH_ROWS];
    uint sh_begin;
} Shared;
#endif

#if KEY_BITS == 32 && SERIAL == 0
typedef struct {
    uint2 right;
    uint low_key;
    uint high_key;
    uint diagonal;
} Globals;
#endif

#if KEY_BITS == 32
INLINE bool less(uint a, uint b) {
    return a < b;
}
#endif

#if KEY_BITS == 32 && SERIAL == 0
INLINE bool takes_left(uint which, uint left_key, uint right_key) {
    return which == 0u ? !less(right_key, left_key) : less(left_key, right_key);
}
#endif

#if SERIAL == 0 && SHARED == 0
INLINE uint3 limbs(uint2 a) {
    return (uint3)(a.x & 0x3fffffu, (a.x >> 22u) | ((a.y & 0xfffu) << 10u), a.y >> 12u);
}

INLINE uint2 from_limbs(uint3 limb) {
    uint2 sum = add((uint2)(limb.x, 0u), (uint2)(limb.y << 22u, limb.y >> 10u));
    return (uint2)(sum.x, sum.y + (limb.z << 12u));
}

INLINE uint2 subgroup_sum(uint2 a) {
    return from_limbs(subgroup_add_uint3(limbs(a)));
}
#endif

#if KEY_BITS == 32 && SHARED == 1
typedef struct {
    uint sh_low[2];
    uint sh_passed[2];
    uint sh_total[2];
    uint sh_left[BATCH_ROWS];
    uint sh_right[STAGE_ROWS];
    uint sh_place[BATCH_ROWS];
    uint sh_begin;
} Shared;
#endif

#if SHARED == 1
typedef struct {
    uint low;
    uint high;
} uint_pair;

INLINE uint_pair add_carry(uint a, uint b) {
    uint sum = a + b;
    return (uint_pair){sum, sum < a ? 1u : 0u};
}
#endif

#if KEY_BITS == 32 && SERIAL == 1
typedef struct {
    uint2 right;
    uint low_key;
    uint high_key;
} Globals;
#endif

#if KEY_BITS == 32
INLINE bool before_in_column(Globals* globals, uint which, uint row) {
    uint key = column32_from(globals->right, row)[0];
    return which == 0u ? less(key, globals->low_key) : !less(globals->high_key, key);
}
#endif

#if KEY_BITS == 64 && SERIAL == 0 && SHARED == 0
typedef struct {
    uint sh_low[2];
    uint sh_passed[2];
    uint2 sh_subgroup_sum[(WORKGROUP + 3u) / 4u];
    uint2 sh_left[BATCH_ROWS];
    uint2 sh_right[STAGE_ROWS];
    uint sh_place[BATCH_ROWS];
    uint sh_begin;
} Shared;
#endif

#if KEY_BITS == 64 && SERIAL == 0
typedef struct {
    uint2 right;
    uint2 low_key;
    uint2 high_key;
    uint diagonal;
} Globals;
#endif

#if KEY_BITS == 64
INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
}
#endif

#if KEY_BITS == 64 && SERIAL == 0
INLINE bool takes_left(uint which, uint2 left_key, uint2 right_key) {
    return which == 0u ? !less(right_key, left_key) : less(left_key, right_key);
}
#endif

#if KEY_BITS == 64 && SHARED == 1
typedef struct {
    uint sh_low[2];
    uint sh_passed[2];
    uint sh_total[2];
    uint2 sh_left[BATCH_ROWS];
    uint2 sh_right[STAGE_ROWS];
    uint sh_place[BATCH_ROWS];
    uint sh_begin;
} Shared;
#endif

#if KEY_BITS == 64 && SERIAL == 1
typedef struct {
    uint2 right;
    uint2 low_key;
    uint2 high_key;
} Globals;
#endif

#if KEY_BITS == 64
INLINE bool before_in_column(Globals* globals, uint which, uint row) {
    uint2 key = column64_from(globals->right, row)[0];
    return which == 0u ? less(key, globals->low_key) : !less(globals->high_key, key);
}
#endif

#if SERIAL == 0
INLINE bool before(__local Shared* shared, Globals* globals, uint which, uint row) {
    if (which < 2u) return before_in_column(globals, which, row);
    if (which == 4u) return less(shared->sh_left[row], globals->low_key);
    return takes_left(which - 2u, shared->sh_left[row], shared->sh_right[globals->diagonal - 1u - row]);
}

INLINE uint search(__local Shared* shared, Globals* globals, uint which, uint low, uint high) {
    while (low < high) {
        uint middle = low + (high - low) / 2u;
        if (before(shared, globals, which, middle)) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

INLINE void merge_places(__local Shared* shared, Globals* globals, uint which, uint left_count, uint right_count) {
    uint steps = (left_count + right_count + WORKGROUP - 1u) / WORKGROUP;
    globals->diagonal = min(LOCAL_ID_X * steps, left_count + right_count);
    uint l = search(shared, globals, 2u + which,
            globals->diagonal > right_count ? globals->diagonal - right_count : 0u, min(globals->diagonal, left_count));
    uint r = globals->diagonal - l;
    for (uint s = 0u; s < steps && l < left_count; ++s) {
        if (r >= right_count || takes_left(which, shared->sh_left[l], shared->sh_right[r])) {
            if (which == 0u) {
                shared->sh_place[l] = r;
            } else {
                shared->sh_place[l] |= r << 16u;
            }
            ++l;
        } else {
            ++r;
        }
    }
}

INLINE uint gallop(__local Shared* shared, Globals* globals, uint which, uint low, uint high) {
    uint step = 1u;
    for (; step != 0u && step <= high - low && before(shared, globals, which, low + step - 1u); step *= 2u) {
        low += step;
    }
    return search(shared, globals, which, low, low + min(step - 1u, high - low));
}
#endif

#if SERIAL == 0 && SHARED == 0
INLINE uint2 workgroup_search(__local Shared* shared, Globals* globals, uint rows) {
    uint probes = WORKGROUP / 2u;
    uint which = LOCAL_ID_X / probes;
    uint probe = LOCAL_ID_X % probes;
    if (LOCAL_ID_X < 2u) {
        shared->sh_low[LOCAL_ID_X] = 0u;
    }
    uint left = rows;
    while (left > 0u) {
        if (LOCAL_ID_X < 2u) {
            shared->sh_passed[LOCAL_ID_X] = 0u;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint low = shared->sh_low[which];
        uint step = (left + probes - 1u) / probes;
        uint row = min(probe * step + step, left) - 1u;
        if (probe * step < left && row < rows - low && before(shared, globals, which, low + row)) {
            atomic_max(&shared->sh_passed[which], row + 1u);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (LOCAL_ID_X < 2u) {
            shared->sh_low[LOCAL_ID_X] += shared->sh_passed[LOCAL_ID_X];
        }
        left = step - 1u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return (uint2)(shared->sh_low[0], shared->sh_low[1]);
}

INLINE uint2 workgroup_sum(__local Shared* shared, uint2 own, uint2* all_) {
    if (subgroup_elect()) {
        shared->sh_subgroup_sum[subgroup_id()] = own;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 before = (uint2)(0u);
    *all_ = (uint2)(0u);
    for (uint s = 0u; s < subgroup_count(); ++s) {
        if (s == subgroup_id()) {
            before = *all_;
        }
        *all_ = add(*all_, shared->sh_subgroup_sum[s]);
    }
    return before;
}
#endif

#if KEY_BITS == 32 && SERIAL == 0 && SHARED == 0
INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->left_rows, begin, WORKGROUP * ITEMS);
    __global uint* keys = column32_from(args->left_keys, begin);
    __global uint* to_begins = column32_from(args->begins, begin);
    __global uint* to_counts = column32_from(args->counts, begin);
    bool wants_begins = !absent(args->begins);
    bool wants_counts = !absent(args->counts);
    uint2 total = (uint2)(0u);
    globals->right = args->right_keys;
    if (count > 0u) {
        globals->low_key = keys[0];
        globals->high_key = keys[count - 1u];
    }
    uint2 range = workgroup_search(shared, globals, count > 0u ? args->right_rows : 0u);
    uint from = range.x;
    uint end = range.y;
    uint done = 0u;
    uint left_key[BATCH];
    uint right_key[STAGE];
    while (done < count) {
        uint filled = min(BATCH_ROWS, count - done);
        float likely = convert_float(end - from) * (convert_float(filled) / convert_float(count - done)) * as_float(0x3f900000u) + as_float(0x42800000u);
        uint staged = min(convert_uint(min(likely, convert_float(STAGE_ROWS))), end - from);
        __global uint* right_from = column32_from(globals->right, from);
        UNROLL
        for (uint k = 0u; k < BATCH; ++k) {
            uint i = LOCAL_ID_X + k * WORKGROUP;
            if (i < filled) {
                left_key[k] = keys[done + i];
            }
        }
        UNROLL
        for (uint k = 0u; k < STAGE; ++k) {
            uint i = LOCAL_ID_X + k * WORKGROUP;
            if (i < staged) {
                right_key[k] = right_from[i];
            }
        }
        UNROLL
        for (uint k = 0u; k < BATCH; ++k) {
            if (LOCAL_ID_X + k * WORKGROUP < filled) {
                shared->sh_left[LOCAL_ID_X + k * WORKGROUP] = left_key[k];
            }
        }
        UNROLL
        for (uint k = 0u; k < STAGE; ++k) {
            if (LOCAL_ID_X + k * WORKGROUP < staged) {
                shared->sh_right[LOCAL_ID_X + k * WORKGROUP] = right_key[k];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint ready = filled;
        if (staged < end - from) {
            globals->low_key = shared->sh_right[staged - 1u];
            ready = search(shared, globals, 4u, 0u, filled);
        }
        if (ready >= (filled + 3u) / 4u) {
            merge_places(shared, globals, 0u, ready, staged);
            barrier(CLK_LOCAL_MEM_FENCE);
            merge_places(shared, globals, 1u, ready, staged);
            barrier(CLK_LOCAL_MEM_FENCE);
            UNROLL
            for (uint k = 0u; k < BATCH; ++k) {
                uint i = LOCAL_ID_X + k * WORKGROUP;
                if (i < ready) {
                    uint place = shared->sh_place[i] & 0xffffu;
                    uint n = (shared->sh_place[i] >> 16u) - place;
                    if (wants_begins) {
                        to_begins[done + i] = from + place;
                    }
                    if (wants_counts) {
                        to_counts[done + i] = n;
                    }
                    total = add(total, (uint2)(n, 0u));
                }
            }
            from += shared->sh_place[ready - 1u] & 0xffffu;
        } else {
            ready = filled;
            uint at = from;
            for (uint i = LOCAL_ID_X; i < filled; i += WORKGROUP) {
                uint sh_left = shared->sh_left[i];
                globals->high_key = sh_left;
                globals->low_key = sh_left;
                at = search(shared, globals, 0u, at, end);
                uint n = gallop(shared, globals, 1u, at, end) - at;
                if (wants_begins) {
                    to_begins[done + i] = at;
                }
                if (wants_counts) {
                    to_counts[done + i] = n;
                }
                total = add(total, (uint2)(n, 0u));
                if (i == filled - 1u) {
                    shared->sh_begin = at;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            from = shared->sh_begin;
        }
        done += ready;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (absent(args->tile_totals)) return;
    uint2 all_;
    workgroup_sum(shared, subgroup_sum(total), &all_);
    if (LOCAL_ID_X == 0u) {
        column64_from(args->tile_totals, tile)[0] = all_;
    }
}
#endif

#if SHARED == 1
INLINE uint2 workgroup_search(__local Shared* shared, Globals* globals, uint rows) {
    if (WORKGROUP == 1u) return (uint2)(search(shared, globals, 0u, 0u, rows), search(shared, globals, 1u, 0u, rows));
    uint probes = WORKGROUP / 2u;
    uint which = LOCAL_ID_X / probes;
    uint probe = LOCAL_ID_X % probes;
    if (LOCAL_ID_X < 2u) {
        shared->sh_low[LOCAL_ID_X] = 0u;
    }
    uint left = rows;
    while (left > 0u) {
        if (LOCAL_ID_X < 2u) {
            shared->sh_passed[LOCAL_ID_X] = 0u;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint low = shared->sh_low[which];
        uint step = (left + probes - 1u) / probes;
        uint row = min(probe * step + step, left) - 1u;
        if (probe * step < left && row < rows - low && before(shared, globals, which, low + row)) {
            atomic_max(&shared->sh_passed[which], row + 1u);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (LOCAL_ID_X < 2u) {
            shared->sh_low[LOCAL_ID_X] += shared->sh_passed[LOCAL_ID_X];
        }
        left = step - 1u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return (uint2)(shared->sh_low[0], shared->sh_low[1]);
}

INLINE uint2 workgroup_total(__local Shared* shared, uint2 own) {
    if (LOCAL_ID_X == 0u) {
        shared->sh_total[1] = 0u;
        shared->sh_total[0] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = atomic_add(&shared->sh_total[0], own.x);
    uint carry = add_carry(before, own.x).high;
    if (own.y + carry > 0u) {
        atomic_add(&shared->sh_total[1], own.y + carry);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return (uint2)(shared->sh_total[0], shared->sh_total[1]);
}
#endif

#if KEY_BITS == 32 && SHARED == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->left_rows, begin, WORKGROUP * ITEMS);
    __global uint* keys = column32_from(args->left_keys, begin);
    __global uint* to_begins = column32_from(args->begins, begin);
    __global uint* to_counts = column32_from(args->counts, begin);
    bool wants_begins = !absent(args->begins);
    bool wants_counts = !absent(args->counts);
    uint2 total = (uint2)(0u);
    globals->right = args->right_keys;
    if (count > 0u) {
        globals->low_key = keys[0];
        globals->high_key = keys[count - 1u];
    }
    uint2 range = workgroup_search(shared, globals, count > 0u ? args->right_rows : 0u);
    uint from = range.x;
    uint end = range.y;
    uint done = 0u;
    uint left_key[BATCH];
    uint right_key[STAGE];
    while (done < count) {
        uint filled = min(BATCH_ROWS, count - done);
        float likely = convert_float(end - from) * (convert_float(filled) / convert_float(count - done)) * as_float(0x3f900000u) + as_float(0x42800000u);
        uint staged = min(convert_uint(min(likely, convert_float(STAGE_ROWS))), end - from);
        __global uint* right_from = column32_from(globals->right, from);
        UNROLL
        for (uint k = 0u; k < BATCH; ++k) {
            uint i = LOCAL_ID_X + k * WORKGROUP;
            if (i < filled) {
                left_key[k] = keys[done + i];
            }
        }
        UNROLL
        for (uint k = 0u; k < STAGE; ++k) {
            uint i = LOCAL_ID_X + k * WORKGROUP;
            if (i < staged) {
                right_key[k] = right_from[i];
            }
        }
        UNROLL
        for (uint k = 0u; k < BATCH; ++k) {
            if (LOCAL_ID_X + k * WORKGROUP < filled) {
                shared->sh_left[LOCAL_ID_X + k * WORKGROUP] = left_key[k];
            }
        }
        UNROLL
        for (uint k = 0u; k < STAGE; ++k) {
            if (LOCAL_ID_X + k * WORKGROUP < staged) {
                shared->sh_right[LOCAL_ID_X + k * WORKGROUP] = right_key[k];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint ready = filled;
        if (staged < end - from) {
            globals->low_key = shared->sh_right[staged - 1u];
            ready = search(shared, globals, 4u, 0u, filled);
        }
        if (ready >= (filled + 3u) / 4u) {
            merge_places(shared, globals, 0u, ready, staged);
            barrier(CLK_LOCAL_MEM_FENCE);
            merge_places(shared, globals, 1u, ready, staged);
            barrier(CLK_LOCAL_MEM_FENCE);
            UNROLL
            for (uint k = 0u; k < BATCH; ++k) {
                uint i = LOCAL_ID_X + k * WORKGROUP;
                if (i < ready) {
                    uint place = shared->sh_place[i] & 0xffffu;
                    uint n = (shared->sh_place[i] >> 16u) - place;
                    if (wants_begins) {
                        to_begins[done + i] = from + place;
                    }
                    if (wants_counts) {
                        to_counts[done + i] = n;
                    }
                    total = add(total, (uint2)(n, 0u));
                }
            }
            from += shared->sh_place[ready - 1u] & 0xffffu;
        } else {
            ready = filled;
            uint at = from;
            for (uint i = LOCAL_ID_X; i < filled; i += WORKGROUP) {
                uint sh_left = shared->sh_left[i];
                globals->high_key = sh_left;
                globals->low_key = sh_left;
                at = search(shared, globals, 0u, at, end);
                uint n = gallop(shared, globals, 1u, at, end) - at;
                if (wants_begins) {
                    to_begins[done + i] = at;
                }
                if (wants_counts) {
                    to_counts[done + i] = n;
                }
                total = add(total, (uint2)(n, 0u));
                if (i == filled - 1u) {
                    shared->sh_begin = at;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            from = shared->sh_begin;
        }
        done += ready;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (absent(args->tile_totals)) return;
    uint2 all_ = workgroup_total(shared, total);
    if (LOCAL_ID_X == 0u) {
        column64_from(args->tile_totals, tile)[0] = all_;
    }
}
#endif

#if SERIAL == 1
INLINE bool before(Globals* globals, uint which, uint row) {
    return before_in_column(globals, which, row);
}

INLINE uint search(Globals* globals, uint which, uint low, uint high) {
    while (low < high) {
        uint middle = low + (high - low) / 2u;
        if (before(globals, which, middle)) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

INLINE uint gallop(Globals* globals, uint which, uint low, uint high) {
    uint step = 1u;
    for (; step != 0u && step <= high - low && before(globals, which, low + step - 1u); step *= 2u) {
        low += step;
    }
    return search(globals, which, low, low + min(step - 1u, high - low));
}
#endif

#if KEY_BITS == 32 && SERIAL == 1
INLINE void kernel_main(const Arguments* args, Globals* globals) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->left_rows, begin, ITEMS);
    __global uint* keys = column32_from(args->left_keys, begin);
    __global uint* to_begins = column32_from(args->begins, begin);
    __global uint* to_counts = column32_from(args->counts, begin);
    bool wants_begins = !absent(args->begins);
    bool wants_counts = !absent(args->counts);
    uint from = 0u;
    uint to = 0u;
    uint end = args->right_rows;
    uint2 total = (uint2)(0u);
    globals->right = args->right_keys;
    for (uint i = 0u; i < count; ++i) {
        uint key = keys[i];
        if (i == 0u || key != globals->low_key) {
            globals->high_key = key;
            globals->low_key = key;
            from = i == 0u ? search(globals, 0u, 0u, end) : gallop(globals, 0u, to, end);
            to = gallop(globals, 1u, from, end);
        }
        if (wants_begins) {
            to_begins[i] = from;
        }
        if (wants_counts) {
            to_counts[i] = to - from;
        }
        total = add(total, (uint2)(to - from, 0u));
    }
    if (!absent(args->tile_totals)) {
        column64_from(args->tile_totals, tile)[0] = total;
    }
}
#endif

#if KEY_BITS == 64 && SERIAL == 0 && SHARED == 0
INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->left_rows, begin, WORKGROUP * ITEMS);
    __global uint2* keys = column64_from(args->left_keys, begin);
    __global uint* to_begins = column32_from(args->begins, begin);
    __global uint* to_counts = column32_from(args->counts, begin);
    bool wants_begins = !absent(args->begins);
    bool wants_counts = !absent(args->counts);
    uint2 total = (uint2)(0u);
    globals->right = args->right_keys;
    if (count > 0u) {
        globals->low_key = keys[0];
        globals->high_key = keys[count - 1u];
    }
    uint2 range = workgroup_search(shared, globals, count > 0u ? args->right_rows : 0u);
    uint from = range.x;
    uint end = range.y;
    uint done = 0u;
    uint2 left_key[BATCH];
    uint2 right_key[STAGE];
    while (done < count) {
        uint filled = min(BATCH_ROWS, count - done);
        float likely = convert_float(end - from) * (convert_float(filled) / convert_float(count - done)) * as_float(0x3f900000u) + as_float(0x42800000u);
        uint staged = min(convert_uint(min(likely, convert_float(STAGE_ROWS))), end - from);
        __global uint2* right_from = column64_from(globals->right, from);
        UNROLL
        for (uint k = 0u; k < BATCH; ++k) {
            uint i = LOCAL_ID_X + k * WORKGROUP;
            if (i < filled) {
                left_key[k] = keys[done + i];
            }
        }
        UNROLL
        for (uint k = 0u; k < STAGE; ++k) {
            uint i = LOCAL_ID_X + k * WORKGROUP;
            if (i < staged) {
                right_key[k] = right_from[i];
            }
        }
        UNROLL
        for (uint k = 0u; k < BATCH; ++k) {
            if (LOCAL_ID_X + k * WORKGROUP < filled) {
                shared->sh_left[LOCAL_ID_X + k * WORKGROUP] = left_key[k];
            }
        }
        UNROLL
        for (uint k = 0u; k < STAGE; ++k) {
            if (LOCAL_ID_X + k * WORKGROUP < staged) {
                shared->sh_right[LOCAL_ID_X + k * WORKGROUP] = right_key[k];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint ready = filled;
        if (staged < end - from) {
            globals->low_key = shared->sh_right[staged - 1u];
            ready = search(shared, globals, 4u, 0u, filled);
        }
        if (ready >= (filled + 3u) / 4u) {
            merge_places(shared, globals, 0u, ready, staged);
            barrier(CLK_LOCAL_MEM_FENCE);
            merge_places(shared, globals, 1u, ready, staged);
            barrier(CLK_LOCAL_MEM_FENCE);
            UNROLL
            for (uint k = 0u; k < BATCH; ++k) {
                uint i = LOCAL_ID_X + k * WORKGROUP;
                if (i < ready) {
                    uint place = shared->sh_place[i] & 0xffffu;
                    uint n = (shared->sh_place[i] >> 16u) - place;
                    if (wants_begins) {
                        to_begins[done + i] = from + place;
                    }
                    if (wants_counts) {
                        to_counts[done + i] = n;
                    }
                    total = add(total, (uint2)(n, 0u));
                }
            }
            from += shared->sh_place[ready - 1u] & 0xffffu;
        } else {
            ready = filled;
            uint at = from;
            for (uint i = LOCAL_ID_X; i < filled; i += WORKGROUP) {
                uint2 sh_left = shared->sh_left[i];
                globals->high_key = sh_left;
                globals->low_key = sh_left;
                at = search(shared, globals, 0u, at, end);
                uint n = gallop(shared, globals, 1u, at, end) - at;
                if (wants_begins) {
                    to_begins[done + i] = at;
                }
                if (wants_counts) {
                    to_counts[done + i] = n;
                }
                total = add(total, (uint2)(n, 0u));
                if (i == filled - 1u) {
                    shared->sh_begin = at;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            from = shared->sh_begin;
        }
        done += ready;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (absent(args->tile_totals)) return;
    uint2 all_;
    workgroup_sum(shared, subgroup_sum(total), &all_);
    if (LOCAL_ID_X == 0u) {
        column64_from(args->tile_totals, tile)[0] = all_;
    }
}
#endif

#if KEY_BITS == 64 && SHARED == 1
INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(args->left_rows, begin, WORKGROUP * ITEMS);
    __global uint2* keys = column64_from(args->left_keys, begin);
    __global uint* to_begins = column32_from(args->begins, begin);
    __global uint* to_counts = column32_from(args->counts, begin);
    bool wants_begins = !absent(args->begins);
    bool wants_counts = !absent(args->counts);
    uint2 total = (uint2)(0u);
    globals->right = args->right_keys;
    if (count > 0u) {
        globals->low_key = keys[0];
        globals->high_key = keys[count - 1u];
    }
    uint2 range = workgroup_search(shared, globals, count > 0u ? args->right_rows : 0u);
    uint from = range.x;
    uint end = range.y;
    uint done = 0u;
    uint2 left_key[BATCH];
    uint2 right_key[STAGE];
    while (done < count) {
        uint filled = min(BATCH_ROWS, count - done);
        float likely = convert_float(end - from) * (convert_float(filled) / convert_float(count - done)) * as_float(0x3f900000u) + as_float(0x42800000u);
        uint staged = min(convert_uint(min(likely, convert_float(STAGE_ROWS))), end - from);
        __global uint2* right_from = column64_from(globals->right, from);
        UNROLL
        for (uint k = 0u; k < BATCH; ++k) {
            uint i = LOCAL_ID_X + k * WORKGROUP;
            if (i < filled) {
                left_key[k] = keys[done + i];
            }
        }
        UNROLL
        for (uint k = 0u; k < STAGE; ++k) {
            uint i = LOCAL_ID_X + k * WORKGROUP;
            if (i < staged) {
                right_key[k] = right_from[i];
            }
        }
        UNROLL
        for (uint k = 0u; k < BATCH; ++k) {
            if (LOCAL_ID_X + k * WORKGROUP < filled) {
                shared->sh_left[LOCAL_ID_X + k * WORKGROUP] = left_key[k];
            }
        }
        UNROLL
        for (uint k = 0u; k < STAGE; ++k) {
            if (LOCAL_ID_X + k * WORKGROUP < staged) {
                shared->sh_right[LOCAL_ID_X + k * WORKGROUP] = right_key[k];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint ready = filled;
        if (staged < end - from) {
            globals->low_key = shared->sh_right[staged - 1u];
            ready = search(shared, globals, 4u, 0u, filled);
        }
        if (ready >= (filled + 3u) / 4u) {
            merge_places(shared, globals, 0u, ready, staged);
            barrier(CLK_LOCAL_MEM_FENCE);
            merge_places(shared, globals, 1u, ready, staged);
            barrier(CLK_LOCAL_MEM_FENCE);
            UNROLL
            for (uint k = 0u; k < BATCH; ++k) {
                uint i = LOCAL_ID_X + k * WORKGROUP;
                if (i < ready) {
                    uint place = shared->sh_place[i] & 0xffffu;
                    uint n = (shared->sh_place[i] >> 16u) - place;
                    if (wants_begins) {
                        to_begins[done + i] = from + place;
                    }
                    if (wants_counts) {
                        to_counts[done + i] = n;
                    }
                    total = add(total, (uint2)(n, 0u));
                }
            }
            from += shared->sh_place[ready - 1u] & 0xffffu;
        } else {
            ready = filled;
            uint at = from;
            for (uint i = LOCAL_ID_X; i < filled; i += WORKGROUP) {
                uint2 sh_left = shared->sh_left[i];
                globals->high_key = sh_left;
                globals->low_key = sh_left;
                at = search(shared, globals, 0u, at, end);
                uint n = gallop(shared, globals, 1u, at, end) - at;
                if (wants_begins) {
                    to_begins[done + i] = at;
                }
                if (wants_counts) {
                    to_counts[done + i] = n;
                }
                total = add(total, (uint2)(n, 0u));
                if (i == filled - 1u) {
                    shared->sh_begin = at;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            from = shared->sh_begin;
        }
        done += ready;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (absent(args->tile_totals)) return;
    uint2 all_ = workgroup_total(shared, total);
    if (LOCAL_ID_X == 0u) {
        column64_from(args->tile_totals, tile)[0] = all_;
    }
}
#endif

#if SERIAL == 0
__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void range_search(
    __global uchar* left_keys,
    __global uchar* right_keys,
    __global uchar* begins,
    __global uchar* counts,
    __global uchar* tile_totals,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)left_keys + scalars.left_keys),
        as_uint2((ulong)right_keys + scalars.right_keys),
        as_uint2((ulong)begins + scalars.begins),
        as_uint2((ulong)counts + scalars.counts),
        as_uint2((ulong)tile_totals + scalars.tile_totals),
        scalars.left_rows,
        scalars.right_rows,
        scalars.tiles,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    __local Shared memory;
    __local Shared* shared = &memory;
    Globals variables;
    Globals* globals = &variables;
    kernel_main(args, shared, globals);
}
#endif

#if KEY_BITS == 64 && SERIAL == 1
INLINE void kernel_main(const Arguments* args, Globals* globals) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->left_rows, begin, ITEMS);
    __global uint2* keys = column64_from(args->left_keys, begin);
    __global uint* to_begins = column32_from(args->begins, begin);
    __global uint* to_counts = column32_from(args->counts, begin);
    bool wants_begins = !absent(args->begins);
    bool wants_counts = !absent(args->counts);
    uint from = 0u;
    uint to = 0u;
    uint end = args->right_rows;
    uint2 total = (uint2)(0u);
    globals->right = args->right_keys;
    for (uint i = 0u; i < count; ++i) {
        uint2 key = keys[i];
        if (i == 0u || any(key != globals->low_key)) {
            globals->high_key = key;
            globals->low_key = key;
            from = i == 0u ? search(globals, 0u, 0u, end) : gallop(globals, 0u, to, end);
            to = gallop(globals, 1u, from, end);
        }
        if (wants_begins) {
            to_begins[i] = from;
        }
        if (wants_counts) {
            to_counts[i] = to - from;
        }
        total = add(total, (uint2)(to - from, 0u));
    }
    if (!absent(args->tile_totals)) {
        column64_from(args->tile_totals, tile)[0] = total;
    }
}
#endif

#if SERIAL == 1
__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void range_search(
    __global uchar* left_keys,
    __global uchar* right_keys,
    __global uchar* begins,
    __global uchar* counts,
    __global uchar* tile_totals,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)left_keys + scalars.left_keys),
        as_uint2((ulong)right_keys + scalars.right_keys),
        as_uint2((ulong)begins + scalars.begins),
        as_uint2((ulong)counts + scalars.counts),
        as_uint2((ulong)tile_totals + scalars.tile_totals),
        scalars.left_rows,
        scalars.right_rows,
        scalars.tiles,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    Globals variables;
    Globals* globals = &variables;
    kernel_main(args, globals);
}
#endif
