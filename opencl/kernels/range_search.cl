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
#pragma OPENCL FP_CONTRACT OFF

#if SERIAL == 0
typedef struct { uint v[2u]; } uint_x2u;

typedef struct { uint v[WORKGROUP * BATCH]; } uint_xworkgroup_batch;

#endif

#if SERIAL == 0 && SHARED == 0
typedef struct { uint2 v[(WORKGROUP + 3u) / 4u]; } uint2_xworkgroup_3u_4u;

INLINE uint3 limbs(uint2 a) {
    return (uint3)(a.x & 4194303u, (a.x >> 22) | ((a.y & 4095u) << 10), a.y >> 12);
}

#endif

#if KEY_BITS == 32 && SERIAL == 0
typedef struct { uint v[WORKGROUP * STAGE]; } uint_xworkgroup_stage;

typedef struct {
    uint2 right;
    uint low_key;
    uint high_key;
    uint diagonal;
} Own;

typedef struct { uint v[BATCH]; } uint_xbatch;

typedef struct { uint v[STAGE]; } uint_xstage;

#endif

typedef struct { uint2 left_keys; uint2 right_keys; uint2 begins; uint2 counts; uint2 tile_totals; uint left_rows; uint right_rows; uint tiles; uint first_group; uint end_group; } Push;

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
    uint_x2u sh_low;
    uint_x2u sh_passed;
    uint2_xworkgroup_3u_4u sh_subgroup_sum;
    uint_xworkgroup_batch sh_left;
    uint_xworkgroup_stage sh_right;
    uint_xworkgroup_batch sh_place;
    uint sh_begin;
} Shared;

#endif

#if KEY_BITS == 32
INLINE bool less(uint a, uint b) {
    return a < b;
}

#endif

#if KEY_BITS == 32 && SERIAL == 0
INLINE bool takes_left(uint which, uint left_key, uint right_key) {
    bool variable;
    if (which == 0u) {
        variable = !less(right_key, left_key);
    } else {
        variable = less(left_key, right_key);
    }
    return variable;
}

#endif

#if SERIAL == 0 && SHARED == 0
INLINE uint2 from_limbs(uint3 limb) {
    uint2 sum = add((uint2)(limb.x, 0u), (uint2)(limb.y << 22, limb.y >> 10));
    return (uint2)(sum.x, sum.y + (limb.z << 12));
}

INLINE uint2 subgroup_sum(uint2 a) {
    uint3 value = subgroup_add_uint3(limbs(a));
    return from_limbs(value);
}

#endif

#if KEY_BITS == 32 && SHARED == 1
typedef struct {
    uint_x2u sh_low;
    uint_x2u sh_passed;
    uint_x2u sh_total;
    uint_xworkgroup_batch sh_left;
    uint_xworkgroup_stage sh_right;
    uint_xworkgroup_batch sh_place;
    uint sh_begin;
} Shared;

#endif

#if SHARED == 1
typedef struct { uint m0; uint m1; } ResType;

INLINE ResType add_carry(uint a, uint b) {
    uint sum = a + b;
    return (ResType){sum, sum < a ? 1u : 0u};
}

#endif

#if KEY_BITS == 32 && SERIAL == 1
typedef struct {
    uint2 right;
    uint low_key;
    uint high_key;
} Own;

#endif

#if KEY_BITS == 32
INLINE bool before_in_column(Own* own, uint which, uint row) {
    uint key = column32_from(own->right, row)[0];
    bool variable;
    if (which == 0u) {
        variable = less(key, own->low_key);
    } else {
        variable = !less(own->high_key, key);
    }
    return variable;
}

#endif

#if KEY_BITS == 64 && SERIAL == 0
typedef struct { uint2 v[WORKGROUP * BATCH]; } uint2_xworkgroup_batch;

typedef struct { uint2 v[WORKGROUP * STAGE]; } uint2_xworkgroup_stage;

typedef struct {
    uint2 right;
    uint2 low_key;
    uint2 high_key;
    uint diagonal;
} Own;

typedef struct { uint2 v[BATCH]; } uint2_xbatch;

typedef struct { uint2 v[STAGE]; } uint2_xstage;

#endif

#if KEY_BITS == 64 && SERIAL == 0 && SHARED == 0
typedef struct {
    uint_x2u sh_low;
    uint_x2u sh_passed;
    uint2_xworkgroup_3u_4u sh_subgroup_sum;
    uint2_xworkgroup_batch sh_left;
    uint2_xworkgroup_stage sh_right;
    uint_xworkgroup_batch sh_place;
    uint sh_begin;
} Shared;

#endif

#if SERIAL == 0 && SHARED == 0
INLINE uint2 workgroup_sum(__local Shared* shared, uint2 own_, uint2* all) {
    bool value = subgroup_elect();
    if (value) {
        shared->sh_subgroup_sum.v[subgroup_id()] = own_;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 before_2 = (uint2)(0u);
    *all = (uint2)(0u);
    uint s = 0u;
    for (; s < subgroup_count(); s = s + 1) {
        if (s == subgroup_id()) {
            before_2 = *all;
        }
        *all = add(*all, shared->sh_subgroup_sum.v[s]);
    }
    return before_2;
}

#endif

#if KEY_BITS == 64
INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
}

#endif

#if KEY_BITS == 64 && SERIAL == 0
INLINE bool takes_left(uint which, uint2 left_key, uint2 right_key) {
    bool variable;
    if (which == 0u) {
        variable = !less(right_key, left_key);
    } else {
        variable = less(left_key, right_key);
    }
    return variable;
}

#endif

#if KEY_BITS == 64 && SHARED == 1
typedef struct {
    uint_x2u sh_low;
    uint_x2u sh_passed;
    uint_x2u sh_total;
    uint2_xworkgroup_batch sh_left;
    uint2_xworkgroup_stage sh_right;
    uint_xworkgroup_batch sh_place;
    uint sh_begin;
} Shared;

#endif

#if SHARED == 1
INLINE uint2 workgroup_total(__local Shared* shared, uint2 own_) {
    if (LOCAL_ID_X == 0u) {
        shared->sh_total.v[1] = 0u;
        shared->sh_total.v[0] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before_2 = atomic_add(&shared->sh_total.v[0], own_.x);
    ResType value = add_carry(before_2, own_.x);
    uint carry = value.m1;
    if ((own_.y + carry) > 0u) {
        atomic_add(&shared->sh_total.v[1], own_.y + carry);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return (uint2)(shared->sh_total.v[0], shared->sh_total.v[1]);
}

#endif

#if KEY_BITS == 64 && SERIAL == 1
typedef struct {
    uint2 right;
    uint2 low_key;
    uint2 high_key;
} Own;

#endif

#if KEY_BITS == 64
INLINE bool before_in_column(Own* own, uint which, uint row) {
    uint2 key = column64_from(own->right, row)[0];
    bool variable;
    if (which == 0u) {
        variable = less(key, own->low_key);
    } else {
        variable = !less(own->high_key, key);
    }
    return variable;
}

#endif

#if SERIAL == 0
INLINE bool before(__local Shared* shared, Own* own, uint which, uint row) {
    if (which < 2u) {
        return before_in_column(own, which, row);
    }
    if (which == 4u) {
        return less(shared->sh_left.v[row], own->low_key);
    }
    return takes_left(which - 2u, shared->sh_left.v[row], shared->sh_right.v[own->diagonal - 1u - row]);
}

INLINE uint search(__local Shared* shared, Own* own, uint which, uint* low, uint* high) {
    while ((*low) < (*high)) {
        uint middle = *low + (*high - *low) / 2u;
        if (before(shared, own, which, middle)) {
            *low = middle + 1u;
        } else {
            *high = middle;
        }
    }
    return *low;
}

INLINE void merge_places(__local Shared* shared, Own* own, uint which, uint left_count, uint right_count) {
    uint steps = (left_count + right_count + WORKGROUP - 1u) / WORKGROUP;
    own->diagonal = min(LOCAL_ID_X * steps, left_count + right_count);
    uint value = 2u + which;
    uint variable;
    if (own->diagonal > right_count) {
        variable = own->diagonal - right_count;
    } else {
        variable = 0u;
    }
    uint param_2 = variable;
    uint param_3 = min(own->diagonal, left_count);
    uint l = search(shared, own, value, &param_2, &param_3);
    uint r = own->diagonal - l;
    uint s = 0u;
    for (; (s < steps) && (l < left_count); s = s + 1) {
        if ((r >= right_count) || takes_left(which, shared->sh_left.v[l], shared->sh_right.v[r])) {
            if (which == 0u) {
                shared->sh_place.v[l] = r;
            } else {
                uint value_2 = l;
                shared->sh_place.v[value_2] = shared->sh_place.v[value_2] | (r << 16);
            }
            l = l + 1;
        } else {
            r = r + 1;
        }
    }
}

INLINE uint gallop(__local Shared* shared, Own* own, uint which, uint* low, uint high) {
    uint step = 1u;
    for (; step != 0u && step <= (high - *low) && before(shared, own, which, *low + step - 1u); step = step * 2u) {
        *low = *low + step;
    }
    uint param_4 = *low;
    uint param_5 = *low + min(step - 1u, high - *low);
    uint value = search(shared, own, which, &param_4, &param_5);
    return value;
}

#endif

#if SERIAL == 0 && SHARED == 0
INLINE uint2 workgroup_search(__local Shared* shared, Own* own, uint rows) {
    uint probes = WORKGROUP / 2u;
    uint which = LOCAL_ID_X / probes;
    uint probe = LOCAL_ID_X % probes;
    if (LOCAL_ID_X < 2u) {
        shared->sh_low.v[LOCAL_ID_X] = 0u;
    }
    uint left = rows;
    while (left > 0u) {
        if (LOCAL_ID_X < 2u) {
            shared->sh_passed.v[LOCAL_ID_X] = 0u;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint low = shared->sh_low.v[which];
        uint step = (left + probes - 1u) / probes;
        uint row = min(probe * step + step, left) - 1u;
        if ((probe * step) < left && row < (rows - low) && before(shared, own, which, low + row)) {
            atomic_max(&shared->sh_passed.v[which], row + 1u);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (LOCAL_ID_X < 2u) {
            shared->sh_low.v[LOCAL_ID_X] = shared->sh_low.v[LOCAL_ID_X] + shared->sh_passed.v[LOCAL_ID_X];
        }
        left = step - 1u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return (uint2)(shared->sh_low.v[0], shared->sh_low.v[1]);
}

#endif

#if KEY_BITS == 32 && SERIAL == 0 && SHARED == 0
INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->left_rows, begin, WORKGROUP * ITEMS);
    __global uint* keys = column32_from(push->left_keys, begin);
    __global uint* to_begins = column32_from(push->begins, begin);
    __global uint* to_counts = column32_from(push->counts, begin);
    bool wants_begins = !absent(push->begins);
    bool wants_counts = !absent(push->counts);
    uint2 total = (uint2)(0u);
    own->right = push->right_keys;
    if (count > 0u) {
        own->low_key = keys[0];
        own->high_key = keys[count - 1u];
    }
    uint variable;
    if (count > 0u) {
        variable = push->right_rows;
    } else {
        variable = 0u;
    }
    uint2 range = workgroup_search(shared, own, variable);
    uint from = range.x;
    uint end = range.y;
    uint done = 0u;
    uint_xbatch left_key;
    uint_xstage right_key;
    while (done < count) {
        uint filled = min(WORKGROUP * BATCH, count - done);
        float likely = convert_float(end - from) * (convert_float(filled) / convert_float(count - done)) * as_float(0x3f900000u) + as_float(0x42800000u);
        uint staged = min(convert_uint(min(likely, convert_float(WORKGROUP * STAGE))), end - from);
        __global uint* right_from = column32_from(own->right, from);
        uint k = 0u;
        UNROLL
        for (; k < BATCH; k = k + 1) {
            uint i = LOCAL_ID_X + k * WORKGROUP;
            if (i < filled) {
                left_key.v[k] = keys[done + i];
            }
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < STAGE; k_2 = k_2 + 1) {
            uint i_2 = LOCAL_ID_X + k_2 * WORKGROUP;
            if (i_2 < staged) {
                right_key.v[k_2] = right_from[i_2];
            }
        }
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < BATCH; k_3 = k_3 + 1) {
            if ((LOCAL_ID_X + k_3 * WORKGROUP) < filled) {
                shared->sh_left.v[LOCAL_ID_X + k_3 * WORKGROUP] = left_key.v[k_3];
            }
        }
        uint k_4 = 0u;
        UNROLL
        for (; k_4 < STAGE; k_4 = k_4 + 1) {
            if ((LOCAL_ID_X + k_4 * WORKGROUP) < staged) {
                shared->sh_right.v[LOCAL_ID_X + k_4 * WORKGROUP] = right_key.v[k_4];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint ready = filled;
        if (staged < (end - from)) {
            own->low_key = shared->sh_right.v[staged - 1u];
            uint param_16 = 0u;
            uint param_17 = filled;
            ready = search(shared, own, 4u, &param_16, &param_17);
        }
        if (ready >= ((filled + 3u) / 4u)) {
            merge_places(shared, own, 0u, ready, staged);
            barrier(CLK_LOCAL_MEM_FENCE);
            merge_places(shared, own, 1u, ready, staged);
            barrier(CLK_LOCAL_MEM_FENCE);
            uint k_5 = 0u;
            UNROLL
            for (; k_5 < BATCH; k_5 = k_5 + 1) {
                uint i_3 = LOCAL_ID_X + k_5 * WORKGROUP;
                if (i_3 < ready) {
                    uint place = shared->sh_place.v[i_3] & 65535u;
                    uint n = (shared->sh_place.v[i_3] >> 16) - place;
                    if (wants_begins) {
                        to_begins[done + i_3] = from + place;
                    }
                    if (wants_counts) {
                        to_counts[done + i_3] = n;
                    }
                    total = add(total, (uint2)(n, 0u));
                }
            }
            from = from + (shared->sh_place.v[ready - 1u] & 65535u);
        } else {
            ready = filled;
            uint at = from;
            uint i_4 = LOCAL_ID_X;
            for (; i_4 < filled; i_4 = i_4 + WORKGROUP) {
                uint value = shared->sh_left.v[i_4];
                own->high_key = value;
                own->low_key = value;
                uint param_27 = at;
                uint param_28 = end;
                at = search(shared, own, 0u, &param_27, &param_28);
                uint param_30 = at;
                uint value_2 = gallop(shared, own, 1u, &param_30, end);
                uint n_2 = value_2 - at;
                if (wants_begins) {
                    to_begins[done + i_4] = at;
                }
                if (wants_counts) {
                    to_counts[done + i_4] = n_2;
                }
                total = add(total, (uint2)(n_2, 0u));
                if (i_4 == (filled - 1u)) {
                    shared->sh_begin = at;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            from = shared->sh_begin;
        }
        done = done + ready;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (absent(push->tile_totals)) {
        return;
    }
    uint2 param_37;
    workgroup_sum(shared, subgroup_sum(total), &param_37);
    uint2 all = param_37;
    if (LOCAL_ID_X == 0u) {
        column64_from(push->tile_totals, tile)[0] = all;
    }
}

#endif

#if SHARED == 1
INLINE uint2 workgroup_search(__local Shared* shared, Own* own, uint rows) {
    if (WORKGROUP == 1u) {
        uint param_2 = 0u;
        uint param_3 = rows;
        uint value = search(shared, own, 0u, &param_2, &param_3);
        uint param_5 = 0u;
        uint param_6 = rows;
        uint value_2 = search(shared, own, 1u, &param_5, &param_6);
        return (uint2)(value, value_2);
    }
    uint probes = WORKGROUP / 2u;
    uint which = LOCAL_ID_X / probes;
    uint probe = LOCAL_ID_X % probes;
    if (LOCAL_ID_X < 2u) {
        shared->sh_low.v[LOCAL_ID_X] = 0u;
    }
    uint left = rows;
    while (left > 0u) {
        if (LOCAL_ID_X < 2u) {
            shared->sh_passed.v[LOCAL_ID_X] = 0u;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint low = shared->sh_low.v[which];
        uint step = (left + probes - 1u) / probes;
        uint row = min(probe * step + step, left) - 1u;
        if ((probe * step) < left && row < (rows - low) && before(shared, own, which, low + row)) {
            atomic_max(&shared->sh_passed.v[which], row + 1u);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (LOCAL_ID_X < 2u) {
            shared->sh_low.v[LOCAL_ID_X] = shared->sh_low.v[LOCAL_ID_X] + shared->sh_passed.v[LOCAL_ID_X];
        }
        left = step - 1u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return (uint2)(shared->sh_low.v[0], shared->sh_low.v[1]);
}

#endif

#if KEY_BITS == 32 && SHARED == 1
INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->left_rows, begin, WORKGROUP * ITEMS);
    __global uint* keys = column32_from(push->left_keys, begin);
    __global uint* to_begins = column32_from(push->begins, begin);
    __global uint* to_counts = column32_from(push->counts, begin);
    bool wants_begins = !absent(push->begins);
    bool wants_counts = !absent(push->counts);
    uint2 total = (uint2)(0u);
    own->right = push->right_keys;
    if (count > 0u) {
        own->low_key = keys[0];
        own->high_key = keys[count - 1u];
    }
    uint variable;
    if (count > 0u) {
        variable = push->right_rows;
    } else {
        variable = 0u;
    }
    uint2 range = workgroup_search(shared, own, variable);
    uint from = range.x;
    uint end = range.y;
    uint done = 0u;
    uint_xbatch left_key;
    uint_xstage right_key;
    while (done < count) {
        uint filled = min(WORKGROUP * BATCH, count - done);
        float likely = convert_float(end - from) * (convert_float(filled) / convert_float(count - done)) * as_float(0x3f900000u) + as_float(0x42800000u);
        uint staged = min(convert_uint(min(likely, convert_float(WORKGROUP * STAGE))), end - from);
        __global uint* right_from = column32_from(own->right, from);
        uint k = 0u;
        UNROLL
        for (; k < BATCH; k = k + 1) {
            uint i = LOCAL_ID_X + k * WORKGROUP;
            if (i < filled) {
                left_key.v[k] = keys[done + i];
            }
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < STAGE; k_2 = k_2 + 1) {
            uint i_2 = LOCAL_ID_X + k_2 * WORKGROUP;
            if (i_2 < staged) {
                right_key.v[k_2] = right_from[i_2];
            }
        }
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < BATCH; k_3 = k_3 + 1) {
            if ((LOCAL_ID_X + k_3 * WORKGROUP) < filled) {
                shared->sh_left.v[LOCAL_ID_X + k_3 * WORKGROUP] = left_key.v[k_3];
            }
        }
        uint k_4 = 0u;
        UNROLL
        for (; k_4 < STAGE; k_4 = k_4 + 1) {
            if ((LOCAL_ID_X + k_4 * WORKGROUP) < staged) {
                shared->sh_right.v[LOCAL_ID_X + k_4 * WORKGROUP] = right_key.v[k_4];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint ready = filled;
        if (staged < (end - from)) {
            own->low_key = shared->sh_right.v[staged - 1u];
            uint param_16 = 0u;
            uint param_17 = filled;
            ready = search(shared, own, 4u, &param_16, &param_17);
        }
        if (ready >= ((filled + 3u) / 4u)) {
            merge_places(shared, own, 0u, ready, staged);
            barrier(CLK_LOCAL_MEM_FENCE);
            merge_places(shared, own, 1u, ready, staged);
            barrier(CLK_LOCAL_MEM_FENCE);
            uint k_5 = 0u;
            UNROLL
            for (; k_5 < BATCH; k_5 = k_5 + 1) {
                uint i_3 = LOCAL_ID_X + k_5 * WORKGROUP;
                if (i_3 < ready) {
                    uint place = shared->sh_place.v[i_3] & 65535u;
                    uint n = (shared->sh_place.v[i_3] >> 16) - place;
                    if (wants_begins) {
                        to_begins[done + i_3] = from + place;
                    }
                    if (wants_counts) {
                        to_counts[done + i_3] = n;
                    }
                    total = add(total, (uint2)(n, 0u));
                }
            }
            from = from + (shared->sh_place.v[ready - 1u] & 65535u);
        } else {
            ready = filled;
            uint at = from;
            uint i_4 = LOCAL_ID_X;
            for (; i_4 < filled; i_4 = i_4 + WORKGROUP) {
                uint value = shared->sh_left.v[i_4];
                own->high_key = value;
                own->low_key = value;
                uint param_27 = at;
                uint param_28 = end;
                at = search(shared, own, 0u, &param_27, &param_28);
                uint param_30 = at;
                uint value_2 = gallop(shared, own, 1u, &param_30, end);
                uint n_2 = value_2 - at;
                if (wants_begins) {
                    to_begins[done + i_4] = at;
                }
                if (wants_counts) {
                    to_counts[done + i_4] = n_2;
                }
                total = add(total, (uint2)(n_2, 0u));
                if (i_4 == (filled - 1u)) {
                    shared->sh_begin = at;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            from = shared->sh_begin;
        }
        done = done + ready;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (absent(push->tile_totals)) {
        return;
    }
    uint2 all = workgroup_total(shared, total);
    if (LOCAL_ID_X == 0u) {
        column64_from(push->tile_totals, tile)[0] = all;
    }
}

#endif

#if SERIAL == 1
INLINE bool before(Own* own, uint which, uint row) {
    return before_in_column(own, which, row);
}

INLINE uint search(Own* own, uint which, uint* low, uint* high) {
    while ((*low) < (*high)) {
        uint middle = *low + (*high - *low) / 2u;
        if (before(own, which, middle)) {
            *low = middle + 1u;
        } else {
            *high = middle;
        }
    }
    return *low;
}

INLINE uint gallop(Own* own, uint which, uint* low, uint high) {
    uint step = 1u;
    for (; step != 0u && step <= (high - *low) && before(own, which, *low + step - 1u); step = step * 2u) {
        *low = *low + step;
    }
    uint param_4 = *low;
    uint param_5 = *low + min(step - 1u, high - *low);
    uint value = search(own, which, &param_4, &param_5);
    return value;
}

#endif

#if KEY_BITS == 32 && SERIAL == 1
INLINE void run(const Push* push, Own* own) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->left_rows, begin, ITEMS);
    __global uint* keys = column32_from(push->left_keys, begin);
    __global uint* to_begins = column32_from(push->begins, begin);
    __global uint* to_counts = column32_from(push->counts, begin);
    bool wants_begins = !absent(push->begins);
    bool wants_counts = !absent(push->counts);
    uint from = 0u;
    uint to = 0u;
    uint end = push->right_rows;
    uint2 total = (uint2)(0u);
    own->right = push->right_keys;
    uint i = 0u;
    uint variable;
    for (; i < count; i = i + 1) {
        uint key = keys[i];
        if ((i == 0u) || (key != own->low_key)) {
            uint value = key;
            own->high_key = value;
            own->low_key = value;
            if (i == 0u) {
                uint param_13 = 0u;
                uint param_14 = end;
                variable = search(own, 0u, &param_13, &param_14);
            } else {
                uint param_16 = to;
                variable = gallop(own, 0u, &param_16, end);
            }
            from = variable;
            uint param_19 = from;
            to = gallop(own, 1u, &param_19, end);
        }
        if (wants_begins) {
            to_begins[i] = from;
        }
        if (wants_counts) {
            to_counts[i] = to - from;
        }
        total = add(total, (uint2)(to - from, 0u));
    }
    if (!absent(push->tile_totals)) {
        column64_from(push->tile_totals, tile)[0] = total;
    }
}

#endif

#if KEY_BITS == 64 && SERIAL == 0 && SHARED == 0
INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->left_rows, begin, WORKGROUP * ITEMS);
    __global uint2* keys = column64_from(push->left_keys, begin);
    __global uint* to_begins = column32_from(push->begins, begin);
    __global uint* to_counts = column32_from(push->counts, begin);
    bool wants_begins = !absent(push->begins);
    bool wants_counts = !absent(push->counts);
    uint2 total = (uint2)(0u);
    own->right = push->right_keys;
    if (count > 0u) {
        own->low_key = keys[0];
        own->high_key = keys[count - 1u];
    }
    uint variable;
    if (count > 0u) {
        variable = push->right_rows;
    } else {
        variable = 0u;
    }
    uint2 range = workgroup_search(shared, own, variable);
    uint from = range.x;
    uint end = range.y;
    uint done = 0u;
    uint2_xbatch left_key;
    uint2_xstage right_key;
    while (done < count) {
        uint filled = min(WORKGROUP * BATCH, count - done);
        float likely = convert_float(end - from) * (convert_float(filled) / convert_float(count - done)) * as_float(0x3f900000u) + as_float(0x42800000u);
        uint staged = min(convert_uint(min(likely, convert_float(WORKGROUP * STAGE))), end - from);
        __global uint2* right_from = column64_from(own->right, from);
        uint k = 0u;
        UNROLL
        for (; k < BATCH; k = k + 1) {
            uint i = LOCAL_ID_X + k * WORKGROUP;
            if (i < filled) {
                left_key.v[k] = keys[done + i];
            }
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < STAGE; k_2 = k_2 + 1) {
            uint i_2 = LOCAL_ID_X + k_2 * WORKGROUP;
            if (i_2 < staged) {
                right_key.v[k_2] = right_from[i_2];
            }
        }
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < BATCH; k_3 = k_3 + 1) {
            if ((LOCAL_ID_X + k_3 * WORKGROUP) < filled) {
                shared->sh_left.v[LOCAL_ID_X + k_3 * WORKGROUP] = left_key.v[k_3];
            }
        }
        uint k_4 = 0u;
        UNROLL
        for (; k_4 < STAGE; k_4 = k_4 + 1) {
            if ((LOCAL_ID_X + k_4 * WORKGROUP) < staged) {
                shared->sh_right.v[LOCAL_ID_X + k_4 * WORKGROUP] = right_key.v[k_4];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint ready = filled;
        if (staged < (end - from)) {
            own->low_key = shared->sh_right.v[staged - 1u];
            uint param_16 = 0u;
            uint param_17 = filled;
            ready = search(shared, own, 4u, &param_16, &param_17);
        }
        if (ready >= ((filled + 3u) / 4u)) {
            merge_places(shared, own, 0u, ready, staged);
            barrier(CLK_LOCAL_MEM_FENCE);
            merge_places(shared, own, 1u, ready, staged);
            barrier(CLK_LOCAL_MEM_FENCE);
            uint k_5 = 0u;
            UNROLL
            for (; k_5 < BATCH; k_5 = k_5 + 1) {
                uint i_3 = LOCAL_ID_X + k_5 * WORKGROUP;
                if (i_3 < ready) {
                    uint place = shared->sh_place.v[i_3] & 65535u;
                    uint n = (shared->sh_place.v[i_3] >> 16) - place;
                    if (wants_begins) {
                        to_begins[done + i_3] = from + place;
                    }
                    if (wants_counts) {
                        to_counts[done + i_3] = n;
                    }
                    total = add(total, (uint2)(n, 0u));
                }
            }
            from = from + (shared->sh_place.v[ready - 1u] & 65535u);
        } else {
            ready = filled;
            uint at = from;
            uint i_4 = LOCAL_ID_X;
            for (; i_4 < filled; i_4 = i_4 + WORKGROUP) {
                uint2 value = shared->sh_left.v[i_4];
                own->high_key = value;
                own->low_key = value;
                uint param_27 = at;
                uint param_28 = end;
                at = search(shared, own, 0u, &param_27, &param_28);
                uint param_30 = at;
                uint value_2 = gallop(shared, own, 1u, &param_30, end);
                uint n_2 = value_2 - at;
                if (wants_begins) {
                    to_begins[done + i_4] = at;
                }
                if (wants_counts) {
                    to_counts[done + i_4] = n_2;
                }
                total = add(total, (uint2)(n_2, 0u));
                if (i_4 == (filled - 1u)) {
                    shared->sh_begin = at;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            from = shared->sh_begin;
        }
        done = done + ready;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (absent(push->tile_totals)) {
        return;
    }
    uint2 param_37;
    workgroup_sum(shared, subgroup_sum(total), &param_37);
    uint2 all = param_37;
    if (LOCAL_ID_X == 0u) {
        column64_from(push->tile_totals, tile)[0] = all;
    }
}

#endif

#if KEY_BITS == 64 && SHARED == 1
INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * WORKGROUP * ITEMS;
    uint count = rows_left(push->left_rows, begin, WORKGROUP * ITEMS);
    __global uint2* keys = column64_from(push->left_keys, begin);
    __global uint* to_begins = column32_from(push->begins, begin);
    __global uint* to_counts = column32_from(push->counts, begin);
    bool wants_begins = !absent(push->begins);
    bool wants_counts = !absent(push->counts);
    uint2 total = (uint2)(0u);
    own->right = push->right_keys;
    if (count > 0u) {
        own->low_key = keys[0];
        own->high_key = keys[count - 1u];
    }
    uint variable;
    if (count > 0u) {
        variable = push->right_rows;
    } else {
        variable = 0u;
    }
    uint2 range = workgroup_search(shared, own, variable);
    uint from = range.x;
    uint end = range.y;
    uint done = 0u;
    uint2_xbatch left_key;
    uint2_xstage right_key;
    while (done < count) {
        uint filled = min(WORKGROUP * BATCH, count - done);
        float likely = convert_float(end - from) * (convert_float(filled) / convert_float(count - done)) * as_float(0x3f900000u) + as_float(0x42800000u);
        uint staged = min(convert_uint(min(likely, convert_float(WORKGROUP * STAGE))), end - from);
        __global uint2* right_from = column64_from(own->right, from);
        uint k = 0u;
        UNROLL
        for (; k < BATCH; k = k + 1) {
            uint i = LOCAL_ID_X + k * WORKGROUP;
            if (i < filled) {
                left_key.v[k] = keys[done + i];
            }
        }
        uint k_2 = 0u;
        UNROLL
        for (; k_2 < STAGE; k_2 = k_2 + 1) {
            uint i_2 = LOCAL_ID_X + k_2 * WORKGROUP;
            if (i_2 < staged) {
                right_key.v[k_2] = right_from[i_2];
            }
        }
        uint k_3 = 0u;
        UNROLL
        for (; k_3 < BATCH; k_3 = k_3 + 1) {
            if ((LOCAL_ID_X + k_3 * WORKGROUP) < filled) {
                shared->sh_left.v[LOCAL_ID_X + k_3 * WORKGROUP] = left_key.v[k_3];
            }
        }
        uint k_4 = 0u;
        UNROLL
        for (; k_4 < STAGE; k_4 = k_4 + 1) {
            if ((LOCAL_ID_X + k_4 * WORKGROUP) < staged) {
                shared->sh_right.v[LOCAL_ID_X + k_4 * WORKGROUP] = right_key.v[k_4];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        uint ready = filled;
        if (staged < (end - from)) {
            own->low_key = shared->sh_right.v[staged - 1u];
            uint param_16 = 0u;
            uint param_17 = filled;
            ready = search(shared, own, 4u, &param_16, &param_17);
        }
        if (ready >= ((filled + 3u) / 4u)) {
            merge_places(shared, own, 0u, ready, staged);
            barrier(CLK_LOCAL_MEM_FENCE);
            merge_places(shared, own, 1u, ready, staged);
            barrier(CLK_LOCAL_MEM_FENCE);
            uint k_5 = 0u;
            UNROLL
            for (; k_5 < BATCH; k_5 = k_5 + 1) {
                uint i_3 = LOCAL_ID_X + k_5 * WORKGROUP;
                if (i_3 < ready) {
                    uint place = shared->sh_place.v[i_3] & 65535u;
                    uint n = (shared->sh_place.v[i_3] >> 16) - place;
                    if (wants_begins) {
                        to_begins[done + i_3] = from + place;
                    }
                    if (wants_counts) {
                        to_counts[done + i_3] = n;
                    }
                    total = add(total, (uint2)(n, 0u));
                }
            }
            from = from + (shared->sh_place.v[ready - 1u] & 65535u);
        } else {
            ready = filled;
            uint at = from;
            uint i_4 = LOCAL_ID_X;
            for (; i_4 < filled; i_4 = i_4 + WORKGROUP) {
                uint2 value = shared->sh_left.v[i_4];
                own->high_key = value;
                own->low_key = value;
                uint param_27 = at;
                uint param_28 = end;
                at = search(shared, own, 0u, &param_27, &param_28);
                uint param_30 = at;
                uint value_2 = gallop(shared, own, 1u, &param_30, end);
                uint n_2 = value_2 - at;
                if (wants_begins) {
                    to_begins[done + i_4] = at;
                }
                if (wants_counts) {
                    to_counts[done + i_4] = n_2;
                }
                total = add(total, (uint2)(n_2, 0u));
                if (i_4 == (filled - 1u)) {
                    shared->sh_begin = at;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            from = shared->sh_begin;
        }
        done = done + ready;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (absent(push->tile_totals)) {
        return;
    }
    uint2 all = workgroup_total(shared, total);
    if (LOCAL_ID_X == 0u) {
        column64_from(push->tile_totals, tile)[0] = all;
    }
}

#endif

#if SERIAL == 0
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
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void range_search(__global uchar* left_keys, __global uchar* right_keys, __global uchar* begins, __global uchar* counts, __global uchar* tile_totals, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    Own variables;
    Own* own = &variables;
    const Push addresses = {
        as_uint2((ulong)left_keys + words.left_keys),
        as_uint2((ulong)right_keys + words.right_keys),
        as_uint2((ulong)begins + words.begins),
        as_uint2((ulong)counts + words.counts),
        as_uint2((ulong)tile_totals + words.tile_totals),
        words.left_rows,
        words.right_rows,
        words.tiles,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared, own);
}

#endif

#if KEY_BITS == 64 && SERIAL == 1
INLINE void run(const Push* push, Own* own) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->left_rows, begin, ITEMS);
    __global uint2* keys = column64_from(push->left_keys, begin);
    __global uint* to_begins = column32_from(push->begins, begin);
    __global uint* to_counts = column32_from(push->counts, begin);
    bool wants_begins = !absent(push->begins);
    bool wants_counts = !absent(push->counts);
    uint from = 0u;
    uint to = 0u;
    uint end = push->right_rows;
    uint2 total = (uint2)(0u);
    own->right = push->right_keys;
    uint i = 0u;
    uint variable;
    for (; i < count; i = i + 1) {
        uint2 key = keys[i];
        if ((i == 0u) || any(key != own->low_key)) {
            uint2 value = key;
            own->high_key = value;
            own->low_key = value;
            if (i == 0u) {
                uint param_13 = 0u;
                uint param_14 = end;
                variable = search(own, 0u, &param_13, &param_14);
            } else {
                uint param_16 = to;
                variable = gallop(own, 0u, &param_16, end);
            }
            from = variable;
            uint param_19 = from;
            to = gallop(own, 1u, &param_19, end);
        }
        if (wants_begins) {
            to_begins[i] = from;
        }
        if (wants_counts) {
            to_counts[i] = to - from;
        }
        total = add(total, (uint2)(to - from, 0u));
    }
    if (!absent(push->tile_totals)) {
        column64_from(push->tile_totals, tile)[0] = total;
    }
}

#endif

#if SERIAL == 1
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
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void range_search(__global uchar* left_keys, __global uchar* right_keys, __global uchar* begins, __global uchar* counts, __global uchar* tile_totals, const Words words) {
    Own variables;
    Own* own = &variables;
    const Push addresses = {
        as_uint2((ulong)left_keys + words.left_keys),
        as_uint2((ulong)right_keys + words.right_keys),
        as_uint2((ulong)begins + words.begins),
        as_uint2((ulong)counts + words.counts),
        as_uint2((ulong)tile_totals + words.tile_totals),
        words.left_rows,
        words.right_rows,
        words.tiles,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, own);
}

#endif
