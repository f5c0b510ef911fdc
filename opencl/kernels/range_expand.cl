// Kernel range_expand in OpenCL C 1.2, translated from shaders/range_expand.comp by make generate; do not edit.
// Variants:
//   serial=0 shared=0
//   serial=0 shared=1
//   serial=1 shared=0

#ifndef SUBGROUPS
#if SERIAL == 0 && SHARED == 0
#error "range_expand: this variant needs subgroups"
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

typedef struct { uint v[WORKGROUP * ITEMS]; } uint_xworkgroup_items;

typedef struct { uint v[4u]; } uint_x4u;

typedef struct { uint v[ITEMS]; } uint_xitems;

#endif

typedef struct { uint2 offsets; uint2 begins; uint2 left_ids; uint2 right_ids; } Inputs;

typedef struct { uint2 v[2u]; } uint2_x2u;

typedef struct { uint2 offsets; uint2 begins; uint2 left_ids; uint2 right_ids; uint2 left_out; uint2 right_out; uint left_rows; uint out_rows; uint base_lo; uint base_hi; uint first_group; uint end_group; } Push;

typedef struct {
    Inputs from;
    uint2_x2u match;
} Own;

INLINE uint rows_left(uint rows, uint first, uint size) {
    uint variable;
    if (first < rows) {
        variable = min(size, rows - first);
    } else {
        variable = 0u;
    }
    return variable;
}

INLINE uint2 add(uint2 a, uint2 b) {
    return as_uint2(as_ulong(a) + as_ulong(b));
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}

INLINE uint2 offset_of(Own* own, uint l) {
    return column64_from(own->from.offsets, l)[0];
}

INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
}

INLINE bool before(Own* own, uint which, uint row) {
    uint2 variable;
    if (which == 0u) {
        variable = own->match.v[0];
    } else {
        variable = own->match.v[1];
    }
    return !less(variable, offset_of(own, row));
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

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

INLINE uint right_base(Own* own, uint l, uint2 offset) {
    return column32_from(own->from.begins, l)[0] - offset.x;
}

#if SERIAL == 0 && SHARED == 0
typedef struct { uint v[(WORKGROUP + 3u) / 4u]; } uint_xworkgroup_3u_4u;

typedef struct {
    uint_x2u sh_low;
    uint_x2u sh_passed;
    uint_xworkgroup_items sh_row;
    uint_xworkgroup_3u_4u sh_subgroup_row;
} Shared;

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
        if ((probe * step) < left && row < (rows - low) && before(own, which, low + row)) {
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

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->out_rows, begin, WORKGROUP * ITEMS);
    if (count == 0u) {
        return;
    }
    own->from = (Inputs){push->offsets, push->begins, push->left_ids, push->right_ids};
    uint2 first = add((uint2)(push->base_lo, push->base_hi), (uint2)(begin, 0u));
    own->match.v[0] = first;
    own->match.v[1] = add(first, (uint2)(count - 1u, 0u));
    uint2 range = workgroup_search(shared, own, push->left_rows);
    uint first_row = range.x - 1u;
    uint others = range.y - range.x;
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        shared->sh_row.v[LOCAL_ID_X + k * WORKGROUP] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (others <= (8u * (WORKGROUP * ITEMS))) {
        __global uint2* starts = column64_from(own->from.offsets, range.x);
        uint i = LOCAL_ID_X;
        uint_x4u start;
        for (; i < others; i = i + 4u * WORKGROUP) {
            uint k_2 = 0u;
            UNROLL
            for (; k_2 < 4u; k_2 = k_2 + 1) {
                if ((i + k_2 * WORKGROUP) < others) {
                    start.v[k_2] = starts[i + k_2 * WORKGROUP].x - first.x;
                }
            }
            uint k_3 = 0u;
            UNROLL
            for (; k_3 < 4u; k_3 = k_3 + 1) {
                if ((i + k_3 * WORKGROUP) < others) {
                    atomic_max(&shared->sh_row.v[start.v[k_3]], i + k_3 * WORKGROUP + 1u);
                }
            }
        }
    } else {
        uint above = range.x;
        uint j = LOCAL_ID_X;
        for (; j < count; j = j + WORKGROUP) {
            own->match.v[0] = add(first, (uint2)(j, 0u));
            uint param_14 = above;
            uint param_15 = range.y;
            above = search(own, 0u, &param_14, &param_15);
            shared->sh_row.v[j] = above - range.x;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint order = subgroup_id() * subgroup_size() + subgroup_local_id();
    uint own_ = 0u;
    uint k_4 = 0u;
    UNROLL
    for (; k_4 < ITEMS; k_4 = k_4 + 1) {
        own_ = max(own_, shared->sh_row.v[order * ITEMS + k_4]);
    }
    uint value = subgroup_max(own_);
    uint of_subgroup = value;
    uint value_2 = subgroup_exclusive_max(own_);
    uint latest = value_2;
    bool value_3 = subgroup_elect();
    if (value_3) {
        shared->sh_subgroup_row.v[subgroup_id()] = of_subgroup;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint s = 0u;
    for (; s < subgroup_id(); s = s + 1) {
        latest = max(latest, shared->sh_subgroup_row.v[s]);
    }
    uint k_5 = 0u;
    UNROLL
    for (; k_5 < ITEMS; k_5 = k_5 + 1) {
        latest = max(latest, shared->sh_row.v[order * ITEMS + k_5]);
        shared->sh_row.v[order * ITEMS + k_5] = latest;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* to_left = column32_from(push->left_out, begin);
    __global uint* to_right = column32_from(push->right_out, begin);
    bool left_numbered = absent(own->from.left_ids);
    bool right_numbered = absent(own->from.right_ids);
    uint k_6 = 0u;
    uint_xitems left;
    uint_xitems right;
    UNROLL
    for (; k_6 < ITEMS; k_6 = k_6 + 1) {
        uint j_2 = LOCAL_ID_X + k_6 * WORKGROUP;
        left.v[k_6] = first_row + shared->sh_row.v[j_2];
        if (j_2 < count) {
            right.v[k_6] = right_base(own, left.v[k_6], offset_of(own, left.v[k_6])) + first.x + j_2;
        }
    }
    if (!left_numbered) {
        uint k_7 = 0u;
        UNROLL
        for (; k_7 < ITEMS; k_7 = k_7 + 1) {
            if ((LOCAL_ID_X + k_7 * WORKGROUP) < count) {
                left.v[k_7] = column32_from(own->from.left_ids, left.v[k_7])[0];
            }
        }
    }
    if (!right_numbered) {
        uint k_8 = 0u;
        UNROLL
        for (; k_8 < ITEMS; k_8 = k_8 + 1) {
            if ((LOCAL_ID_X + k_8 * WORKGROUP) < count) {
                right.v[k_8] = column32_from(own->from.right_ids, right.v[k_8])[0];
            }
        }
    }
    uint k_9 = 0u;
    UNROLL
    for (; k_9 < ITEMS; k_9 = k_9 + 1) {
        uint j_3 = LOCAL_ID_X + k_9 * WORKGROUP;
        if (j_3 < count) {
            to_left[j_3] = left.v[k_9];
            to_right[j_3] = right.v[k_9];
        }
    }
}

#endif

#if SHARED == 1
typedef struct { uint v[2u * WORKGROUP]; } uint_x2u_workgroup;

typedef struct {
    uint_x2u sh_low;
    uint_x2u sh_passed;
    uint_x2u_workgroup sh_scanned;
    uint_xworkgroup_items sh_row;
} Shared;

INLINE uint2 workgroup_search(__local Shared* shared, Own* own, uint rows) {
    if (WORKGROUP == 1u) {
        uint param_2 = 0u;
        uint param_3 = rows;
        uint value = search(own, 0u, &param_2, &param_3);
        uint param_5 = 0u;
        uint param_6 = rows;
        uint value_2 = search(own, 1u, &param_5, &param_6);
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
        if ((probe * step) < left && row < (rows - low) && before(own, which, low + row)) {
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

INLINE void put_scanned(__local Shared* shared, uint at, uint value) {
    shared->sh_scanned.v[at] = value;
}

INLINE uint scanned(__local Shared* shared, uint at) {
    return shared->sh_scanned.v[at];
}

INLINE uint workgroup_scan(__local Shared* shared, uint* own_, uint* all) {
    uint side = 0u;
    put_scanned(shared, LOCAL_ID_X, *own_);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint step = 1u;
    for (; step < WORKGROUP; step = step * 2u) {
        if (LOCAL_ID_X >= step) {
            *own_ = max(scanned(shared, side + LOCAL_ID_X - step), *own_);
        }
        side = WORKGROUP - side;
        put_scanned(shared, side + LOCAL_ID_X, *own_);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *all = scanned(shared, side + WORKGROUP - 1u);
    if (LOCAL_ID_X == 0u) {
        return 0u;
    }
    return scanned(shared, side + LOCAL_ID_X - 1u);
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->out_rows, begin, WORKGROUP * ITEMS);
    if (count == 0u) {
        return;
    }
    own->from = (Inputs){push->offsets, push->begins, push->left_ids, push->right_ids};
    uint2 first = add((uint2)(push->base_lo, push->base_hi), (uint2)(begin, 0u));
    own->match.v[0] = first;
    own->match.v[1] = add(first, (uint2)(count - 1u, 0u));
    uint2 range = workgroup_search(shared, own, push->left_rows);
    uint first_row = range.x - 1u;
    uint others = range.y - range.x;
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        shared->sh_row.v[LOCAL_ID_X + k * WORKGROUP] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (others <= (8u * (WORKGROUP * ITEMS))) {
        __global uint2* starts = column64_from(own->from.offsets, range.x);
        uint i = LOCAL_ID_X;
        uint_x4u start;
        for (; i < others; i = i + 4u * WORKGROUP) {
            uint k_2 = 0u;
            UNROLL
            for (; k_2 < 4u; k_2 = k_2 + 1) {
                if ((i + k_2 * WORKGROUP) < others) {
                    start.v[k_2] = starts[i + k_2 * WORKGROUP].x - first.x;
                }
            }
            uint k_3 = 0u;
            UNROLL
            for (; k_3 < 4u; k_3 = k_3 + 1) {
                if ((i + k_3 * WORKGROUP) < others) {
                    atomic_max(&shared->sh_row.v[start.v[k_3]], i + k_3 * WORKGROUP + 1u);
                }
            }
        }
    } else {
        uint above = range.x;
        uint j = LOCAL_ID_X;
        for (; j < count; j = j + WORKGROUP) {
            own->match.v[0] = add(first, (uint2)(j, 0u));
            uint param_14 = above;
            uint param_15 = range.y;
            above = search(own, 0u, &param_14, &param_15);
            shared->sh_row.v[j] = above - range.x;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint order = LOCAL_ID_X;
    uint own_ = 0u;
    uint k_4 = 0u;
    UNROLL
    for (; k_4 < ITEMS; k_4 = k_4 + 1) {
        own_ = max(own_, shared->sh_row.v[order * ITEMS + k_4]);
    }
    uint param_16 = own_;
    uint param_17;
    uint value = workgroup_scan(shared, &param_16, &param_17);
    uint all = param_17;
    uint latest = value;
    uint k_5 = 0u;
    UNROLL
    for (; k_5 < ITEMS; k_5 = k_5 + 1) {
        latest = max(latest, shared->sh_row.v[order * ITEMS + k_5]);
        shared->sh_row.v[order * ITEMS + k_5] = latest;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* to_left = column32_from(push->left_out, begin);
    __global uint* to_right = column32_from(push->right_out, begin);
    bool left_numbered = absent(own->from.left_ids);
    bool right_numbered = absent(own->from.right_ids);
    uint k_6 = 0u;
    uint_xitems left;
    uint_xitems right;
    UNROLL
    for (; k_6 < ITEMS; k_6 = k_6 + 1) {
        uint j_2 = LOCAL_ID_X + k_6 * WORKGROUP;
        left.v[k_6] = first_row + shared->sh_row.v[j_2];
        if (j_2 < count) {
            right.v[k_6] = right_base(own, left.v[k_6], offset_of(own, left.v[k_6])) + first.x + j_2;
        }
    }
    if (!left_numbered) {
        uint k_7 = 0u;
        UNROLL
        for (; k_7 < ITEMS; k_7 = k_7 + 1) {
            if ((LOCAL_ID_X + k_7 * WORKGROUP) < count) {
                left.v[k_7] = column32_from(own->from.left_ids, left.v[k_7])[0];
            }
        }
    }
    if (!right_numbered) {
        uint k_8 = 0u;
        UNROLL
        for (; k_8 < ITEMS; k_8 = k_8 + 1) {
            if ((LOCAL_ID_X + k_8 * WORKGROUP) < count) {
                right.v[k_8] = column32_from(own->from.right_ids, right.v[k_8])[0];
            }
        }
    }
    uint k_9 = 0u;
    UNROLL
    for (; k_9 < ITEMS; k_9 = k_9 + 1) {
        uint j_3 = LOCAL_ID_X + k_9 * WORKGROUP;
        if (j_3 < count) {
            to_left[j_3] = left.v[k_9];
            to_right[j_3] = right.v[k_9];
        }
    }
}

#endif

#if SERIAL == 0
typedef struct {
    ulong offsets;
    ulong begins;
    ulong left_ids;
    ulong right_ids;
    ulong left_out;
    ulong right_out;
    uint left_rows;
    uint out_rows;
    uint base_lo;
    uint base_hi;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void range_expand(__global uchar* offsets, __global uchar* begins, __global uchar* left_ids, __global uchar* right_ids, __global uchar* left_out, __global uchar* right_out, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    Own variables;
    Own* own = &variables;
    const Push addresses = {
        as_uint2((ulong)offsets + words.offsets),
        as_uint2((ulong)begins + words.begins),
        as_uint2((ulong)left_ids + words.left_ids),
        as_uint2((ulong)right_ids + words.right_ids),
        as_uint2((ulong)left_out + words.left_out),
        as_uint2((ulong)right_out + words.right_out),
        words.left_rows,
        words.out_rows,
        words.base_lo,
        words.base_hi,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared, own);
}

#endif

#if SERIAL == 1
INLINE uint id_of(uint2 ids, uint row) {
    uint variable;
    if (absent(ids)) {
        variable = row;
    } else {
        variable = column32_from(ids, row)[0];
    }
    return variable;
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

INLINE void run(const Push* push, Own* own) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    uint begin = tile * ITEMS;
    uint count = rows_left(push->out_rows, begin, ITEMS);
    if ((tile > (push->out_rows / ITEMS)) || (count == 0u)) {
        return;
    }
    __global uint* to_left = column32_from(push->left_out, begin);
    __global uint* to_right = column32_from(push->right_out, begin);
    own->from = (Inputs){push->offsets, push->begins, push->left_ids, push->right_ids};
    own->match.v[0] = add((uint2)(push->base_lo, push->base_hi), (uint2)(begin, 0u));
    uint end = push->left_rows;
    uint param_11 = 0u;
    uint param_12 = end;
    uint value = search(own, 0u, &param_11, &param_12);
    uint l = value - 1u;
    uint2 next = offset_of(own, l + 1u);
    uint left = id_of(own->from.left_ids, l);
    uint right = right_base(own, l, offset_of(own, l));
    uint j = 0u;
    for (; j < count; j = j + 1) {
        if (!less(own->match.v[0], next)) {
            uint2 offset = next;
            uint value_2 = l + 1;
            l = value_2;
            next = offset_of(own, value_2 + 1u);
            if (!less(own->match.v[0], next)) {
                uint param_25 = l + 1u;
                uint value_3 = gallop(own, 0u, &param_25, end);
                l = value_3 - 1u;
                offset = offset_of(own, l);
                next = offset_of(own, l + 1u);
            }
            left = id_of(own->from.left_ids, l);
            right = right_base(own, l, offset);
        }
        to_left[j] = left;
        to_right[j] = id_of(own->from.right_ids, right + own->match.v[0].x);
        own->match.v[0] = add(own->match.v[0], (uint2)(1u, 0u));
    }
}

typedef struct {
    ulong offsets;
    ulong begins;
    ulong left_ids;
    ulong right_ids;
    ulong left_out;
    ulong right_out;
    uint left_rows;
    uint out_rows;
    uint base_lo;
    uint base_hi;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void range_expand(__global uchar* offsets, __global uchar* begins, __global uchar* left_ids, __global uchar* right_ids, __global uchar* left_out, __global uchar* right_out, const Words words) {
    Own variables;
    Own* own = &variables;
    const Push addresses = {
        as_uint2((ulong)offsets + words.offsets),
        as_uint2((ulong)begins + words.begins),
        as_uint2((ulong)left_ids + words.left_ids),
        as_uint2((ulong)right_ids + words.right_ids),
        as_uint2((ulong)left_out + words.left_out),
        as_uint2((ulong)right_out + words.right_out),
        words.left_rows,
        words.out_rows,
        words.base_lo,
        words.base_hi,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, own);
}

#endif
