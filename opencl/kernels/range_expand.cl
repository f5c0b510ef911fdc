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
#ifndef DEVICE_FENCE
#define DEVICE_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
#pragma OPENCL FP_CONTRACT OFF

typedef struct {
    uint2 offsets;
    uint2 begins;
    uint2 left_ids;
    uint2 right_ids;
} Inputs;

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
} Scalars;

typedef struct {
    uint2 offsets;
    uint2 begins;
    uint2 left_ids;
    uint2 right_ids;
    uint2 left_out;
    uint2 right_out;
    uint left_rows;
    uint out_rows;
    uint base_lo;
    uint base_hi;
    uint first_group;
    uint end_group;
} Arguments;

typedef struct {
    Inputs from;
    uint2 match[2];
} Globals;

INLINE uint rows_left(uint rows, uint first, uint size) {
    return first < rows ? min(size, rows - first) : 0u;
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

INLINE uint2 offset_of(Globals* globals, uint l) {
    return column64_from(globals->from.offsets, l)[0];
}

INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
}

INLINE bool before(Globals* globals, uint which, uint row) {
    return !less(which == 0u ? globals->match[0] : globals->match[1], offset_of(globals, row));
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

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}

INLINE uint right_base(Globals* globals, uint l, uint2 offset) {
    return column32_from(globals->from.begins, l)[0] - offset.x;
}

#if SERIAL == 0
#define TILE_ROWS (WORKGROUP * ITEMS)

#define MOST_ROWS (8u * TILE_ROWS)
#endif

#if SERIAL == 0 && SHARED == 0
typedef struct {
    uint sh_low[2];
    uint sh_passed[2];
    uint sh_row[TILE_ROWS];
    uint sh_subgroup_row[(WORKGROUP + 3u) / 4u];
} Shared;

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
        if (probe * step < left && row < rows - low && before(globals, which, low + row)) {
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

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    uint count = rows_left(args->out_rows, begin, TILE_ROWS);
    if (count == 0u) return;
    globals->from = (Inputs){args->offsets, args->begins, args->left_ids, args->right_ids};
    uint2 first = add((uint2)(args->base_lo, args->base_hi), (uint2)(begin, 0u));
    globals->match[0] = first;
    globals->match[1] = add(first, (uint2)(count - 1u, 0u));
    uint2 range = workgroup_search(shared, globals, args->left_rows);
    uint first_row = range.x - 1u;
    uint others = range.y - range.x;
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        shared->sh_row[LOCAL_ID_X + k * WORKGROUP] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (others <= MOST_ROWS) {
        __global uint2* starts = column64_from(globals->from.offsets, range.x);
        uint start[4];
        for (uint i = LOCAL_ID_X; i < others; i += 4u * WORKGROUP) {
            UNROLL
            for (uint k = 0u; k < 4u; ++k) {
                if (i + k * WORKGROUP < others) {
                    start[k] = starts[i + k * WORKGROUP].x - first.x;
                }
            }
            UNROLL
            for (uint k = 0u; k < 4u; ++k) {
                if (i + k * WORKGROUP < others) {
                    atomic_max(&shared->sh_row[start[k]], i + k * WORKGROUP + 1u);
                }
            }
        }
    } else {
        uint above = range.x;
        for (uint j = LOCAL_ID_X; j < count; j += WORKGROUP) {
            globals->match[0] = add(first, (uint2)(j, 0u));
            above = search(globals, 0u, above, range.y);
            shared->sh_row[j] = above - range.x;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint order = subgroup_id() * subgroup_size() + subgroup_local_id();
    uint own = 0u;
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        own = max(own, shared->sh_row[order * ITEMS + k]);
    }
    uint of_subgroup = subgroup_max(own);
    uint latest = subgroup_exclusive_max(own);
    if (subgroup_elect()) {
        shared->sh_subgroup_row[subgroup_id()] = of_subgroup;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = 0u; s < subgroup_id(); ++s) {
        latest = max(latest, shared->sh_subgroup_row[s]);
    }
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        latest = max(latest, shared->sh_row[order * ITEMS + k]);
        shared->sh_row[order * ITEMS + k] = latest;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* to_left = column32_from(args->left_out, begin);
    __global uint* to_right = column32_from(args->right_out, begin);
    bool left_numbered = absent(globals->from.left_ids);
    bool right_numbered = absent(globals->from.right_ids);
    uint left[ITEMS];
    uint right[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint j = LOCAL_ID_X + k * WORKGROUP;
        left[k] = first_row + shared->sh_row[j];
        if (j < count) {
            right[k] = right_base(globals, left[k], offset_of(globals, left[k])) + first.x + j;
        }
    }
    if (!left_numbered) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (LOCAL_ID_X + k * WORKGROUP < count) {
                left[k] = column32_from(globals->from.left_ids, left[k])[0];
            }
        }
    }
    if (!right_numbered) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (LOCAL_ID_X + k * WORKGROUP < count) {
                right[k] = column32_from(globals->from.right_ids, right[k])[0];
            }
        }
    }
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint j = LOCAL_ID_X + k * WORKGROUP;
        if (j < count) {
            to_left[j] = left[k];
            to_right[j] = right[k];
        }
    }
}
#endif

#if SHARED == 1
typedef struct {
    uint sh_low[2];
    uint sh_passed[2];
    uint sh_scanned[2u * WORKGROUP];
    uint sh_row[TILE_ROWS];
} Shared;

INLINE uint2 workgroup_search(__local Shared* shared, Globals* globals, uint rows) {
    if (WORKGROUP == 1u) return (uint2)(search(globals, 0u, 0u, rows), search(globals, 1u, 0u, rows));
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
        if (probe * step < left && row < rows - low && before(globals, which, low + row)) {
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

INLINE void put_scanned(__local Shared* shared, uint at, uint value) {
    shared->sh_scanned[at] = value;
}

INLINE uint scanned(__local Shared* shared, uint at) {
    return shared->sh_scanned[at];
}

INLINE uint workgroup_scan(__local Shared* shared, uint own, uint* all_) {
    uint side = 0u;
    put_scanned(shared, LOCAL_ID_X, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1u; step < WORKGROUP; step *= 2u) {
        if (LOCAL_ID_X >= step) {
            own = max(scanned(shared, side + LOCAL_ID_X - step), own);
        }
        side = WORKGROUP - side;
        put_scanned(shared, side + LOCAL_ID_X, own);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *all_ = scanned(shared, side + WORKGROUP - 1u);
    if (LOCAL_ID_X == 0u) return 0u;
    return scanned(shared, side + LOCAL_ID_X - 1u);
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    uint count = rows_left(args->out_rows, begin, TILE_ROWS);
    if (count == 0u) return;
    globals->from = (Inputs){args->offsets, args->begins, args->left_ids, args->right_ids};
    uint2 first = add((uint2)(args->base_lo, args->base_hi), (uint2)(begin, 0u));
    globals->match[0] = first;
    globals->match[1] = add(first, (uint2)(count - 1u, 0u));
    uint2 range = workgroup_search(shared, globals, args->left_rows);
    uint first_row = range.x - 1u;
    uint others = range.y - range.x;
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        shared->sh_row[LOCAL_ID_X + k * WORKGROUP] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (others <= MOST_ROWS) {
        __global uint2* starts = column64_from(globals->from.offsets, range.x);
        uint start[4];
        for (uint i = LOCAL_ID_X; i < others; i += 4u * WORKGROUP) {
            UNROLL
            for (uint k = 0u; k < 4u; ++k) {
                if (i + k * WORKGROUP < others) {
                    start[k] = starts[i + k * WORKGROUP].x - first.x;
                }
            }
            UNROLL
            for (uint k = 0u; k < 4u; ++k) {
                if (i + k * WORKGROUP < others) {
                    atomic_max(&shared->sh_row[start[k]], i + k * WORKGROUP + 1u);
                }
            }
        }
    } else {
        uint above = range.x;
        for (uint j = LOCAL_ID_X; j < count; j += WORKGROUP) {
            globals->match[0] = add(first, (uint2)(j, 0u));
            above = search(globals, 0u, above, range.y);
            shared->sh_row[j] = above - range.x;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint order = LOCAL_ID_X;
    uint own = 0u;
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        own = max(own, shared->sh_row[order * ITEMS + k]);
    }
    uint all_;
    uint latest = workgroup_scan(shared, own, &all_);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        latest = max(latest, shared->sh_row[order * ITEMS + k]);
        shared->sh_row[order * ITEMS + k] = latest;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __global uint* to_left = column32_from(args->left_out, begin);
    __global uint* to_right = column32_from(args->right_out, begin);
    bool left_numbered = absent(globals->from.left_ids);
    bool right_numbered = absent(globals->from.right_ids);
    uint left[ITEMS];
    uint right[ITEMS];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint j = LOCAL_ID_X + k * WORKGROUP;
        left[k] = first_row + shared->sh_row[j];
        if (j < count) {
            right[k] = right_base(globals, left[k], offset_of(globals, left[k])) + first.x + j;
        }
    }
    if (!left_numbered) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (LOCAL_ID_X + k * WORKGROUP < count) {
                left[k] = column32_from(globals->from.left_ids, left[k])[0];
            }
        }
    }
    if (!right_numbered) {
        UNROLL
        for (uint k = 0u; k < ITEMS; ++k) {
            if (LOCAL_ID_X + k * WORKGROUP < count) {
                right[k] = column32_from(globals->from.right_ids, right[k])[0];
            }
        }
    }
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint j = LOCAL_ID_X + k * WORKGROUP;
        if (j < count) {
            to_left[j] = left[k];
            to_right[j] = right[k];
        }
    }
}
#endif

#if SERIAL == 0
__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void range_expand(
    __global uchar* offsets,
    __global uchar* begins,
    __global uchar* left_ids,
    __global uchar* right_ids,
    __global uchar* left_out,
    __global uchar* right_out,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)offsets + scalars.offsets),
        as_uint2((ulong)begins + scalars.begins),
        as_uint2((ulong)left_ids + scalars.left_ids),
        as_uint2((ulong)right_ids + scalars.right_ids),
        as_uint2((ulong)left_out + scalars.left_out),
        as_uint2((ulong)right_out + scalars.right_out),
        scalars.left_rows,
        scalars.out_rows,
        scalars.base_lo,
        scalars.base_hi,
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

#if SERIAL == 1
INLINE uint id_of(uint2 ids, uint row) {
    return absent(ids) ? row : column32_from(ids, row)[0];
}

INLINE uint gallop(Globals* globals, uint which, uint low, uint high) {
    uint step = 1u;
    for (; step != 0u && step <= high - low && before(globals, which, low + step - 1u); step *= 2u) {
        low += step;
    }
    return search(globals, which, low, low + min(step - 1u, high - low));
}

INLINE void kernel_main(const Arguments* args, Globals* globals) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->out_rows, begin, ITEMS);
    if (tile > args->out_rows / ITEMS || count == 0u) return;
    __global uint* to_left = column32_from(args->left_out, begin);
    __global uint* to_right = column32_from(args->right_out, begin);
    globals->from = (Inputs){args->offsets, args->begins, args->left_ids, args->right_ids};
    globals->match[0] = add((uint2)(args->base_lo, args->base_hi), (uint2)(begin, 0u));
    uint end = args->left_rows;
    uint l = search(globals, 0u, 0u, end) - 1u;
    uint2 next = offset_of(globals, l + 1u);
    uint left = id_of(globals->from.left_ids, l);
    uint right = right_base(globals, l, offset_of(globals, l));
    for (uint j = 0u; j < count; ++j) {
        if (!less(globals->match[0], next)) {
            uint2 offset = next;
            ++l;
            next = offset_of(globals, l + 1u);
            if (!less(globals->match[0], next)) {
                l = gallop(globals, 0u, l + 1u, end) - 1u;
                offset = offset_of(globals, l);
                next = offset_of(globals, l + 1u);
            }
            left = id_of(globals->from.left_ids, l);
            right = right_base(globals, l, offset);
        }
        to_left[j] = left;
        to_right[j] = id_of(globals->from.right_ids, right + globals->match[0].x);
        globals->match[0] = add(globals->match[0], (uint2)(1u, 0u));
    }
}

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void range_expand(
    __global uchar* offsets,
    __global uchar* begins,
    __global uchar* left_ids,
    __global uchar* right_ids,
    __global uchar* left_out,
    __global uchar* right_out,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)offsets + scalars.offsets),
        as_uint2((ulong)begins + scalars.begins),
        as_uint2((ulong)left_ids + scalars.left_ids),
        as_uint2((ulong)right_ids + scalars.right_ids),
        as_uint2((ulong)left_out + scalars.left_out),
        as_uint2((ulong)right_out + scalars.right_out),
        scalars.left_rows,
        scalars.out_rows,
        scalars.base_lo,
        scalars.base_hi,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    Globals variables;
    Globals* globals = &variables;
    kernel_main(args, globals);
}
#endif
