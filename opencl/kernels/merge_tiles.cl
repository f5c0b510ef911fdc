// Kernel merge_tiles in OpenCL C 1.2, translated from shaders/merge_tiles.comp by make generate; do not edit.
// Variants:
//   key_bits=32 payload_bits=0 serial=0
//   key_bits=32 payload_bits=0 serial=1
//   key_bits=32 payload_bits=32 serial=0
//   key_bits=32 payload_bits=32 serial=1
//   key_bits=32 payload_bits=64 serial=0
//   key_bits=32 payload_bits=64 serial=1
//   key_bits=64 payload_bits=0 serial=0
//   key_bits=64 payload_bits=0 serial=1
//   key_bits=64 payload_bits=32 serial=0
//   key_bits=64 payload_bits=32 serial=1
//   key_bits=64 payload_bits=64 serial=0
//   key_bits=64 payload_bits=64 serial=1

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
#define TILE_ROWS (WORKGROUP * ITEMS)
#endif

typedef struct {
    ulong left_keys;
    ulong right_keys;
    ulong left_payload;
    ulong right_payload;
    ulong splits;
    ulong keys_out;
    ulong payload_out;
    uint left_rows;
    uint right_rows;
    uint run;
    uint tiles;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 left_keys;
    uint2 right_keys;
    uint2 left_payload;
    uint2 right_payload;
    uint2 splits;
    uint2 keys_out;
    uint2 payload_out;
    uint left_rows;
    uint right_rows;
    uint run;
    uint tiles;
    uint first_group;
    uint end_group;
} Arguments;

typedef struct {
    uint left;
    uint left_rows;
    uint right;
    uint right_rows;
} Runs;

INLINE Runs runs_at(uint row, uint left_rows, uint right_rows, uint run) {
    if (run == 0u) return (Runs){0u, left_rows, 0u, right_rows};
    uint left = ((row / run) & 0xfffffffeu) * run;
    uint rest = left_rows - left;
    uint n = min(run, rest);
    return (Runs){left, n, left + n, min(run, rest - n)};
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}

#if KEY_BITS == 32 && PAYLOAD_BITS == 0 && SERIAL == 0
typedef struct {
    uint sh_key[TILE_ROWS + 1u];
    uint sh_low[2];
    uint sh_passed[2];
} Shared;

typedef struct {
    uint right_last;
    uint left_first;
    uint key[ITEMS];
} Globals;
#endif

#if KEY_BITS == 32
INLINE bool less(uint a, uint b) {
    return a < b;
}
#endif

#if SERIAL == 1
INLINE uint rows_left(uint rows, uint first, uint size) {
    return first < rows ? min(size, rows - first) : 0u;
}
#endif

#if KEY_BITS == 32 && SERIAL == 1
INLINE uint key_of(uint2 keys, uint at, uint rows) {
    uint key = 0u;
    if (rows > 0u) {
        key = column32_from(keys, at)[0];
    }
    return key;
}

typedef struct {
    uint2 keys;
    uint2 payload;
    uint at;
    uint rows;
    uint key;
} Side;
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 0 && SERIAL == 1
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint left_all = args->left_rows;
    uint right_all = args->right_rows;
    uint run_rows = args->run;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->run == 0u ? args->left_rows + args->right_rows : args->left_rows, begin, ITEMS);
    __global uint* to_keys = column32_from(args->keys_out, begin);
    Runs runs = runs_at(begin, left_all, right_all, run_rows);
    uint diagonal = begin - runs.left;
    uint from_left = 0u;
    if (diagonal > 0u) {
        from_left = column32_from(args->splits, tile)[0];
    }
    Side left = (Side){args->left_keys, args->left_payload, runs.left + from_left, runs.left_rows - from_left, 0u};
    Side right = (Side){args->right_keys, args->right_payload, runs.right + diagonal - from_left,
            runs.right_rows - (diagonal - from_left), 0u};
    left.key = key_of(left.keys, left.at, left.rows);
    right.key = key_of(right.keys, right.at, right.rows);
    for (uint i = 0u; i < count; ++i) {
        if (left.rows == 0u && right.rows == 0u) {
            runs = runs_at(begin + i, left_all, right_all, run_rows);
            left.at = runs.left;
            left.rows = runs.left_rows;
            right.at = runs.right;
            right.rows = runs.right_rows;
            left.key = key_of(left.keys, left.at, left.rows);
            right.key = key_of(right.keys, right.at, right.rows);
        }
        bool is_left = right.rows == 0u || (left.rows > 0u && !less(right.key, left.key));
        uint at = is_left ? left.at : right.at;
        uint rows = (is_left ? left.rows : right.rows) - 1u;
        to_keys[i] = is_left ? left.key : right.key;
        ++at;
        uint next = key_of(is_left ? left.keys : right.keys, at, rows);
        if (is_left) {
            left.at = at;
            left.rows = rows;
            left.key = next;
        } else {
            right.at = at;
            right.rows = rows;
            right.key = next;
        }
    }
}
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 32 && SERIAL == 0
typedef struct {
    uint sh_key[TILE_ROWS + 1u];
    uint sh_payload[TILE_ROWS];
    uint sh_low[2];
    uint sh_passed[2];
} Shared;

typedef struct {
    uint right_last;
    uint left_first;
    uint key[ITEMS];
    uint payload[ITEMS];
} Globals;
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 32 && SERIAL == 1
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint left_all = args->left_rows;
    uint right_all = args->right_rows;
    uint run_rows = args->run;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->run == 0u ? args->left_rows + args->right_rows : args->left_rows, begin, ITEMS);
    __global uint* to_keys = column32_from(args->keys_out, begin);
    __global uint* to_payload = column32_from(args->payload_out, begin);
    Runs runs = runs_at(begin, left_all, right_all, run_rows);
    uint diagonal = begin - runs.left;
    uint from_left = 0u;
    if (diagonal > 0u) {
        from_left = column32_from(args->splits, tile)[0];
    }
    Side left = (Side){args->left_keys, args->left_payload, runs.left + from_left, runs.left_rows - from_left, 0u};
    Side right = (Side){args->right_keys, args->right_payload, runs.right + diagonal - from_left,
            runs.right_rows - (diagonal - from_left), 0u};
    left.key = key_of(left.keys, left.at, left.rows);
    right.key = key_of(right.keys, right.at, right.rows);
    for (uint i = 0u; i < count; ++i) {
        if (left.rows == 0u && right.rows == 0u) {
            runs = runs_at(begin + i, left_all, right_all, run_rows);
            left.at = runs.left;
            left.rows = runs.left_rows;
            right.at = runs.right;
            right.rows = runs.right_rows;
            left.key = key_of(left.keys, left.at, left.rows);
            right.key = key_of(right.keys, right.at, right.rows);
        }
        bool is_left = right.rows == 0u || (left.rows > 0u && !less(right.key, left.key));
        uint at = is_left ? left.at : right.at;
        uint rows = (is_left ? left.rows : right.rows) - 1u;
        to_keys[i] = is_left ? left.key : right.key;
        to_payload[i] = column32_from(is_left ? left.payload : right.payload, at)[0];
        ++at;
        uint next = key_of(is_left ? left.keys : right.keys, at, rows);
        if (is_left) {
            left.at = at;
            left.rows = rows;
            left.key = next;
        } else {
            right.at = at;
            right.rows = rows;
            right.key = next;
        }
    }
}
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 64 && SERIAL == 0
typedef struct {
    uint sh_key[TILE_ROWS + 1u];
    uint2 sh_payload[TILE_ROWS];
    uint sh_low[2];
    uint sh_passed[2];
} Shared;

typedef struct {
    uint right_last;
    uint left_first;
    uint key[ITEMS];
    uint2 payload[ITEMS];
} Globals;
#endif

#if PAYLOAD_BITS == 64 || KEY_BITS == 64
INLINE __global uint2* column64_from(uint2 base, uint row) {
    return (__global uint2*)as_ulong(element_address(base, row, 3u));
}
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 64 && SERIAL == 1
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint left_all = args->left_rows;
    uint right_all = args->right_rows;
    uint run_rows = args->run;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->run == 0u ? args->left_rows + args->right_rows : args->left_rows, begin, ITEMS);
    __global uint* to_keys = column32_from(args->keys_out, begin);
    __global uint2* to_payload = column64_from(args->payload_out, begin);
    Runs runs = runs_at(begin, left_all, right_all, run_rows);
    uint diagonal = begin - runs.left;
    uint from_left = 0u;
    if (diagonal > 0u) {
        from_left = column32_from(args->splits, tile)[0];
    }
    Side left = (Side){args->left_keys, args->left_payload, runs.left + from_left, runs.left_rows - from_left, 0u};
    Side right = (Side){args->right_keys, args->right_payload, runs.right + diagonal - from_left,
            runs.right_rows - (diagonal - from_left), 0u};
    left.key = key_of(left.keys, left.at, left.rows);
    right.key = key_of(right.keys, right.at, right.rows);
    for (uint i = 0u; i < count; ++i) {
        if (left.rows == 0u && right.rows == 0u) {
            runs = runs_at(begin + i, left_all, right_all, run_rows);
            left.at = runs.left;
            left.rows = runs.left_rows;
            right.at = runs.right;
            right.rows = runs.right_rows;
            left.key = key_of(left.keys, left.at, left.rows);
            right.key = key_of(right.keys, right.at, right.rows);
        }
        bool is_left = right.rows == 0u || (left.rows > 0u && !less(right.key, left.key));
        uint at = is_left ? left.at : right.at;
        uint rows = (is_left ? left.rows : right.rows) - 1u;
        to_keys[i] = is_left ? left.key : right.key;
        to_payload[i] = column64_from(is_left ? left.payload : right.payload, at)[0];
        ++at;
        uint next = key_of(is_left ? left.keys : right.keys, at, rows);
        if (is_left) {
            left.at = at;
            left.rows = rows;
            left.key = next;
        } else {
            right.at = at;
            right.rows = rows;
            right.key = next;
        }
    }
}
#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 0 && SERIAL == 0
typedef struct {
    uint2 sh_key[TILE_ROWS + 1u];
    uint sh_low[2];
    uint sh_passed[2];
} Shared;

typedef struct {
    uint right_last;
    uint left_first;
    uint2 key[ITEMS];
} Globals;
#endif

#if PAYLOAD_BITS == 0 && SERIAL == 0
INLINE void put_striped(__local Shared* shared, Globals* globals) {
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        shared->sh_key[LOCAL_ID_X + k * WORKGROUP] = globals->key[k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

INLINE void put_blocked(__local Shared* shared, Globals* globals) {
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        shared->sh_key[LOCAL_ID_X * ITEMS + k] = globals->key[k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

#if KEY_BITS == 64
INLINE bool less(uint2 a, uint2 b) {
    return as_ulong(a) < as_ulong(b);
}
#endif

#if KEY_BITS == 64 && SERIAL == 1
INLINE uint2 key_of(uint2 keys, uint at, uint rows) {
    uint2 key = (uint2)(0u);
    if (rows > 0u) {
        key = column64_from(keys, at)[0];
    }
    return key;
}

typedef struct {
    uint2 keys;
    uint2 payload;
    uint at;
    uint rows;
    uint2 key;
} Side;
#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 0 && SERIAL == 1
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint left_all = args->left_rows;
    uint right_all = args->right_rows;
    uint run_rows = args->run;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->run == 0u ? args->left_rows + args->right_rows : args->left_rows, begin, ITEMS);
    __global uint2* to_keys = column64_from(args->keys_out, begin);
    Runs runs = runs_at(begin, left_all, right_all, run_rows);
    uint diagonal = begin - runs.left;
    uint from_left = 0u;
    if (diagonal > 0u) {
        from_left = column32_from(args->splits, tile)[0];
    }
    Side left = (Side){args->left_keys, args->left_payload, runs.left + from_left, runs.left_rows - from_left,
            (uint2)(0u)};
    Side right = (Side){args->right_keys, args->right_payload, runs.right + diagonal - from_left,
            runs.right_rows - (diagonal - from_left), (uint2)(0u)};
    left.key = key_of(left.keys, left.at, left.rows);
    right.key = key_of(right.keys, right.at, right.rows);
    for (uint i = 0u; i < count; ++i) {
        if (left.rows == 0u && right.rows == 0u) {
            runs = runs_at(begin + i, left_all, right_all, run_rows);
            left.at = runs.left;
            left.rows = runs.left_rows;
            right.at = runs.right;
            right.rows = runs.right_rows;
            left.key = key_of(left.keys, left.at, left.rows);
            right.key = key_of(right.keys, right.at, right.rows);
        }
        bool is_left = right.rows == 0u || (left.rows > 0u && !less(right.key, left.key));
        uint at = is_left ? left.at : right.at;
        uint rows = (is_left ? left.rows : right.rows) - 1u;
        to_keys[i] = is_left ? left.key : right.key;
        ++at;
        uint2 next = key_of(is_left ? left.keys : right.keys, at, rows);
        if (is_left) {
            left.at = at;
            left.rows = rows;
            left.key = next;
        } else {
            right.at = at;
            right.rows = rows;
            right.key = next;
        }
    }
}
#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 32 && SERIAL == 0
typedef struct {
    uint2 sh_key[TILE_ROWS + 1u];
    uint sh_payload[TILE_ROWS];
    uint sh_low[2];
    uint sh_passed[2];
} Shared;

typedef struct {
    uint right_last;
    uint left_first;
    uint2 key[ITEMS];
    uint payload[ITEMS];
} Globals;
#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 32 && SERIAL == 1
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint left_all = args->left_rows;
    uint right_all = args->right_rows;
    uint run_rows = args->run;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->run == 0u ? args->left_rows + args->right_rows : args->left_rows, begin, ITEMS);
    __global uint2* to_keys = column64_from(args->keys_out, begin);
    __global uint* to_payload = column32_from(args->payload_out, begin);
    Runs runs = runs_at(begin, left_all, right_all, run_rows);
    uint diagonal = begin - runs.left;
    uint from_left = 0u;
    if (diagonal > 0u) {
        from_left = column32_from(args->splits, tile)[0];
    }
    Side left = (Side){args->left_keys, args->left_payload, runs.left + from_left, runs.left_rows - from_left,
            (uint2)(0u)};
    Side right = (Side){args->right_keys, args->right_payload, runs.right + diagonal - from_left,
            runs.right_rows - (diagonal - from_left), (uint2)(0u)};
    left.key = key_of(left.keys, left.at, left.rows);
    right.key = key_of(right.keys, right.at, right.rows);
    for (uint i = 0u; i < count; ++i) {
        if (left.rows == 0u && right.rows == 0u) {
            runs = runs_at(begin + i, left_all, right_all, run_rows);
            left.at = runs.left;
            left.rows = runs.left_rows;
            right.at = runs.right;
            right.rows = runs.right_rows;
            left.key = key_of(left.keys, left.at, left.rows);
            right.key = key_of(right.keys, right.at, right.rows);
        }
        bool is_left = right.rows == 0u || (left.rows > 0u && !less(right.key, left.key));
        uint at = is_left ? left.at : right.at;
        uint rows = (is_left ? left.rows : right.rows) - 1u;
        to_keys[i] = is_left ? left.key : right.key;
        to_payload[i] = column32_from(is_left ? left.payload : right.payload, at)[0];
        ++at;
        uint2 next = key_of(is_left ? left.keys : right.keys, at, rows);
        if (is_left) {
            left.at = at;
            left.rows = rows;
            left.key = next;
        } else {
            right.at = at;
            right.rows = rows;
            right.key = next;
        }
    }
}
#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 64 && SERIAL == 0
typedef struct {
    uint2 sh_key[TILE_ROWS + 1u];
    uint2 sh_payload[TILE_ROWS];
    uint sh_low[2];
    uint sh_passed[2];
} Shared;

typedef struct {
    uint right_last;
    uint left_first;
    uint2 key[ITEMS];
    uint2 payload[ITEMS];
} Globals;
#endif

#if SERIAL == 0
INLINE bool before(__local Shared* shared, Globals* globals, uint which, uint row) {
    return !less(shared->sh_key[globals->right_last - row], shared->sh_key[globals->left_first + row]);
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
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 0 && SERIAL == 0
INLINE void merge_items(__local Shared* shared, Globals* globals, uint left, uint right, uint end, uint diagonal) {
    globals->left_first = left;
    globals->right_last = right + diagonal - 1u;
    uint right_rows = end - right;
    uint from_left = search(shared, globals, 0u, diagonal > right_rows ? diagonal - right_rows : 0u,
            min(diagonal, right - left));
    uint a = left + from_left;
    uint b = right + diagonal - from_left;
    uint left_key = shared->sh_key[a];
    uint right_key = shared->sh_key[b];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        bool is_left = b >= end || (a < right && !less(right_key, left_key));
        uint at = is_left ? a : b;
        globals->key[k] = is_left ? left_key : right_key;
        uint next = shared->sh_key[at + 1u];
        if (is_left) {
            a = at + 1u;
            left_key = next;
        } else {
            b = at + 1u;
            right_key = next;
        }
    }
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    Runs runs = runs_at(begin, args->left_rows, args->right_rows, args->run);
    uint diagonal = begin - runs.left;
    uint rest = runs.left_rows + runs.right_rows - diagonal;
    uint count = min(rest, TILE_ROWS);
    uint from = column32_from(args->splits, tile)[0];
    uint end = runs.left_rows;
    if (rest > TILE_ROWS) {
        end = column32_from(args->splits, tile + 1u)[0];
    }
    uint n = end - from;
    uint left = runs.left + from;
    uint right = runs.right + diagonal - from;
    __global uint* left_from = column32_from(args->left_keys, left);
    __global uint* right_from = column32_from(args->right_keys, right);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        globals->key[k] = 0xffffffffu;
        if (i < n) {
            globals->key[k] = left_from[i];
        } else if (i < count) {
            globals->key[k] = right_from[i - n];
        }
    }
    put_striped(shared, globals);
    merge_items(shared, globals, 0u, n, TILE_ROWS, LOCAL_ID_X * ITEMS);
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, globals);
    __global uint* to_keys = column32_from(args->keys_out, begin);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        if (i < count) {
            to_keys[i] = shared->sh_key[i];
        }
    }
}
#endif

#if PAYLOAD_BITS >= 32 && SERIAL == 0
INLINE void put_striped(__local Shared* shared, Globals* globals) {
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        shared->sh_key[LOCAL_ID_X + k * WORKGROUP] = globals->key[k];
        shared->sh_payload[LOCAL_ID_X + k * WORKGROUP] = globals->payload[k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

INLINE void put_blocked(__local Shared* shared, Globals* globals) {
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        shared->sh_key[LOCAL_ID_X * ITEMS + k] = globals->key[k];
        shared->sh_payload[LOCAL_ID_X * ITEMS + k] = globals->payload[k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS >= 32 && SERIAL == 0
INLINE void merge_items(__local Shared* shared, Globals* globals, uint left, uint right, uint end, uint diagonal) {
    globals->left_first = left;
    globals->right_last = right + diagonal - 1u;
    uint right_rows = end - right;
    uint from_left = search(shared, globals, 0u, diagonal > right_rows ? diagonal - right_rows : 0u,
            min(diagonal, right - left));
    uint a = left + from_left;
    uint b = right + diagonal - from_left;
    uint left_key = shared->sh_key[a];
    uint right_key = shared->sh_key[b];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        bool is_left = b >= end || (a < right && !less(right_key, left_key));
        uint at = is_left ? a : b;
        globals->key[k] = is_left ? left_key : right_key;
        globals->payload[k] = shared->sh_payload[at];
        uint next = shared->sh_key[at + 1u];
        if (is_left) {
            a = at + 1u;
            left_key = next;
        } else {
            b = at + 1u;
            right_key = next;
        }
    }
}
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 32 && SERIAL == 0
INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    Runs runs = runs_at(begin, args->left_rows, args->right_rows, args->run);
    uint diagonal = begin - runs.left;
    uint rest = runs.left_rows + runs.right_rows - diagonal;
    uint count = min(rest, TILE_ROWS);
    uint from = column32_from(args->splits, tile)[0];
    uint end = runs.left_rows;
    if (rest > TILE_ROWS) {
        end = column32_from(args->splits, tile + 1u)[0];
    }
    uint n = end - from;
    uint left = runs.left + from;
    uint right = runs.right + diagonal - from;
    __global uint* left_from = column32_from(args->left_keys, left);
    __global uint* right_from = column32_from(args->right_keys, right);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        globals->key[k] = 0xffffffffu;
        if (i < n) {
            globals->key[k] = left_from[i];
        } else if (i < count) {
            globals->key[k] = right_from[i - n];
        }
    }
    __global uint* left_value = column32_from(args->left_payload, left);
    __global uint* right_value = column32_from(args->right_payload, right);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        if (i < n) {
            globals->payload[k] = left_value[i];
        } else if (i < count) {
            globals->payload[k] = right_value[i - n];
        }
    }
    put_striped(shared, globals);
    merge_items(shared, globals, 0u, n, TILE_ROWS, LOCAL_ID_X * ITEMS);
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, globals);
    __global uint* to_keys = column32_from(args->keys_out, begin);
    __global uint* to_payload = column32_from(args->payload_out, begin);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        if (i < count) {
            to_keys[i] = shared->sh_key[i];
            to_payload[i] = shared->sh_payload[i];
        }
    }
}
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 64 && SERIAL == 0
INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    Runs runs = runs_at(begin, args->left_rows, args->right_rows, args->run);
    uint diagonal = begin - runs.left;
    uint rest = runs.left_rows + runs.right_rows - diagonal;
    uint count = min(rest, TILE_ROWS);
    uint from = column32_from(args->splits, tile)[0];
    uint end = runs.left_rows;
    if (rest > TILE_ROWS) {
        end = column32_from(args->splits, tile + 1u)[0];
    }
    uint n = end - from;
    uint left = runs.left + from;
    uint right = runs.right + diagonal - from;
    __global uint* left_from = column32_from(args->left_keys, left);
    __global uint* right_from = column32_from(args->right_keys, right);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        globals->key[k] = 0xffffffffu;
        if (i < n) {
            globals->key[k] = left_from[i];
        } else if (i < count) {
            globals->key[k] = right_from[i - n];
        }
    }
    __global uint2* left_value = column64_from(args->left_payload, left);
    __global uint2* right_value = column64_from(args->right_payload, right);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        if (i < n) {
            globals->payload[k] = left_value[i];
        } else if (i < count) {
            globals->payload[k] = right_value[i - n];
        }
    }
    put_striped(shared, globals);
    merge_items(shared, globals, 0u, n, TILE_ROWS, LOCAL_ID_X * ITEMS);
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, globals);
    __global uint* to_keys = column32_from(args->keys_out, begin);
    __global uint2* to_payload = column64_from(args->payload_out, begin);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        if (i < count) {
            to_keys[i] = shared->sh_key[i];
            to_payload[i] = shared->sh_payload[i];
        }
    }
}
#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 0 && SERIAL == 0
INLINE void merge_items(__local Shared* shared, Globals* globals, uint left, uint right, uint end, uint diagonal) {
    globals->left_first = left;
    globals->right_last = right + diagonal - 1u;
    uint right_rows = end - right;
    uint from_left = search(shared, globals, 0u, diagonal > right_rows ? diagonal - right_rows : 0u,
            min(diagonal, right - left));
    uint a = left + from_left;
    uint b = right + diagonal - from_left;
    uint2 left_key = shared->sh_key[a];
    uint2 right_key = shared->sh_key[b];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        bool is_left = b >= end || (a < right && !less(right_key, left_key));
        uint at = is_left ? a : b;
        globals->key[k] = is_left ? left_key : right_key;
        uint2 next = shared->sh_key[at + 1u];
        if (is_left) {
            a = at + 1u;
            left_key = next;
        } else {
            b = at + 1u;
            right_key = next;
        }
    }
}

INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    Runs runs = runs_at(begin, args->left_rows, args->right_rows, args->run);
    uint diagonal = begin - runs.left;
    uint rest = runs.left_rows + runs.right_rows - diagonal;
    uint count = min(rest, TILE_ROWS);
    uint from = column32_from(args->splits, tile)[0];
    uint end = runs.left_rows;
    if (rest > TILE_ROWS) {
        end = column32_from(args->splits, tile + 1u)[0];
    }
    uint n = end - from;
    uint left = runs.left + from;
    uint right = runs.right + diagonal - from;
    __global uint2* left_from = column64_from(args->left_keys, left);
    __global uint2* right_from = column64_from(args->right_keys, right);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        globals->key[k] = (uint2)(0xffffffffu);
        if (i < n) {
            globals->key[k] = left_from[i];
        } else if (i < count) {
            globals->key[k] = right_from[i - n];
        }
    }
    put_striped(shared, globals);
    merge_items(shared, globals, 0u, n, TILE_ROWS, LOCAL_ID_X * ITEMS);
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, globals);
    __global uint2* to_keys = column64_from(args->keys_out, begin);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        if (i < count) {
            to_keys[i] = shared->sh_key[i];
        }
    }
}
#endif

#if KEY_BITS == 64 && PAYLOAD_BITS >= 32 && SERIAL == 0
INLINE void merge_items(__local Shared* shared, Globals* globals, uint left, uint right, uint end, uint diagonal) {
    globals->left_first = left;
    globals->right_last = right + diagonal - 1u;
    uint right_rows = end - right;
    uint from_left = search(shared, globals, 0u, diagonal > right_rows ? diagonal - right_rows : 0u,
            min(diagonal, right - left));
    uint a = left + from_left;
    uint b = right + diagonal - from_left;
    uint2 left_key = shared->sh_key[a];
    uint2 right_key = shared->sh_key[b];
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        bool is_left = b >= end || (a < right && !less(right_key, left_key));
        uint at = is_left ? a : b;
        globals->key[k] = is_left ? left_key : right_key;
        globals->payload[k] = shared->sh_payload[at];
        uint2 next = shared->sh_key[at + 1u];
        if (is_left) {
            a = at + 1u;
            left_key = next;
        } else {
            b = at + 1u;
            right_key = next;
        }
    }
}
#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 32 && SERIAL == 0
INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    Runs runs = runs_at(begin, args->left_rows, args->right_rows, args->run);
    uint diagonal = begin - runs.left;
    uint rest = runs.left_rows + runs.right_rows - diagonal;
    uint count = min(rest, TILE_ROWS);
    uint from = column32_from(args->splits, tile)[0];
    uint end = runs.left_rows;
    if (rest > TILE_ROWS) {
        end = column32_from(args->splits, tile + 1u)[0];
    }
    uint n = end - from;
    uint left = runs.left + from;
    uint right = runs.right + diagonal - from;
    __global uint2* left_from = column64_from(args->left_keys, left);
    __global uint2* right_from = column64_from(args->right_keys, right);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        globals->key[k] = (uint2)(0xffffffffu);
        if (i < n) {
            globals->key[k] = left_from[i];
        } else if (i < count) {
            globals->key[k] = right_from[i - n];
        }
    }
    __global uint* left_value = column32_from(args->left_payload, left);
    __global uint* right_value = column32_from(args->right_payload, right);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        if (i < n) {
            globals->payload[k] = left_value[i];
        } else if (i < count) {
            globals->payload[k] = right_value[i - n];
        }
    }
    put_striped(shared, globals);
    merge_items(shared, globals, 0u, n, TILE_ROWS, LOCAL_ID_X * ITEMS);
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, globals);
    __global uint2* to_keys = column64_from(args->keys_out, begin);
    __global uint* to_payload = column32_from(args->payload_out, begin);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        if (i < count) {
            to_keys[i] = shared->sh_key[i];
            to_payload[i] = shared->sh_payload[i];
        }
    }
}
#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 64 && SERIAL == 0
INLINE void kernel_main(const Arguments* args, __local Shared* shared, Globals* globals) {
    uint tile = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint begin = tile * TILE_ROWS;
    Runs runs = runs_at(begin, args->left_rows, args->right_rows, args->run);
    uint diagonal = begin - runs.left;
    uint rest = runs.left_rows + runs.right_rows - diagonal;
    uint count = min(rest, TILE_ROWS);
    uint from = column32_from(args->splits, tile)[0];
    uint end = runs.left_rows;
    if (rest > TILE_ROWS) {
        end = column32_from(args->splits, tile + 1u)[0];
    }
    uint n = end - from;
    uint left = runs.left + from;
    uint right = runs.right + diagonal - from;
    __global uint2* left_from = column64_from(args->left_keys, left);
    __global uint2* right_from = column64_from(args->right_keys, right);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        globals->key[k] = (uint2)(0xffffffffu);
        if (i < n) {
            globals->key[k] = left_from[i];
        } else if (i < count) {
            globals->key[k] = right_from[i - n];
        }
    }
    __global uint2* left_value = column64_from(args->left_payload, left);
    __global uint2* right_value = column64_from(args->right_payload, right);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        if (i < n) {
            globals->payload[k] = left_value[i];
        } else if (i < count) {
            globals->payload[k] = right_value[i - n];
        }
    }
    put_striped(shared, globals);
    merge_items(shared, globals, 0u, n, TILE_ROWS, LOCAL_ID_X * ITEMS);
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, globals);
    __global uint2* to_keys = column64_from(args->keys_out, begin);
    __global uint2* to_payload = column64_from(args->payload_out, begin);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        if (i < count) {
            to_keys[i] = shared->sh_key[i];
            to_payload[i] = shared->sh_payload[i];
        }
    }
}
#endif

#if SERIAL == 0
__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void merge_tiles(
    __global uchar* left_keys,
    __global uchar* right_keys,
    __global uchar* left_payload,
    __global uchar* right_payload,
    __global uchar* splits,
    __global uchar* keys_out,
    __global uchar* payload_out,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)left_keys + scalars.left_keys),
        as_uint2((ulong)right_keys + scalars.right_keys),
        as_uint2((ulong)left_payload + scalars.left_payload),
        as_uint2((ulong)right_payload + scalars.right_payload),
        as_uint2((ulong)splits + scalars.splits),
        as_uint2((ulong)keys_out + scalars.keys_out),
        as_uint2((ulong)payload_out + scalars.payload_out),
        scalars.left_rows,
        scalars.right_rows,
        scalars.run,
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

#if KEY_BITS == 64 && PAYLOAD_BITS == 64 && SERIAL == 1
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint left_all = args->left_rows;
    uint right_all = args->right_rows;
    uint run_rows = args->run;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->run == 0u ? args->left_rows + args->right_rows : args->left_rows, begin, ITEMS);
    __global uint2* to_keys = column64_from(args->keys_out, begin);
    __global uint2* to_payload = column64_from(args->payload_out, begin);
    Runs runs = runs_at(begin, left_all, right_all, run_rows);
    uint diagonal = begin - runs.left;
    uint from_left = 0u;
    if (diagonal > 0u) {
        from_left = column32_from(args->splits, tile)[0];
    }
    Side left = (Side){args->left_keys, args->left_payload, runs.left + from_left, runs.left_rows - from_left,
            (uint2)(0u)};
    Side right = (Side){args->right_keys, args->right_payload, runs.right + diagonal - from_left,
            runs.right_rows - (diagonal - from_left), (uint2)(0u)};
    left.key = key_of(left.keys, left.at, left.rows);
    right.key = key_of(right.keys, right.at, right.rows);
    for (uint i = 0u; i < count; ++i) {
        if (left.rows == 0u && right.rows == 0u) {
            runs = runs_at(begin + i, left_all, right_all, run_rows);
            left.at = runs.left;
            left.rows = runs.left_rows;
            right.at = runs.right;
            right.rows = runs.right_rows;
            left.key = key_of(left.keys, left.at, left.rows);
            right.key = key_of(right.keys, right.at, right.rows);
        }
        bool is_left = right.rows == 0u || (left.rows > 0u && !less(right.key, left.key));
        uint at = is_left ? left.at : right.at;
        uint rows = (is_left ? left.rows : right.rows) - 1u;
        to_keys[i] = is_left ? left.key : right.key;
        to_payload[i] = column64_from(is_left ? left.payload : right.payload, at)[0];
        ++at;
        uint2 next = key_of(is_left ? left.keys : right.keys, at, rows);
        if (is_left) {
            left.at = at;
            left.rows = rows;
            left.key = next;
        } else {
            right.at = at;
            right.rows = rows;
            right.key = next;
        }
    }
}
#endif

#if SERIAL == 1
__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void merge_tiles(
    __global uchar* left_keys,
    __global uchar* right_keys,
    __global uchar* left_payload,
    __global uchar* right_payload,
    __global uchar* splits,
    __global uchar* keys_out,
    __global uchar* payload_out,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)left_keys + scalars.left_keys),
        as_uint2((ulong)right_keys + scalars.right_keys),
        as_uint2((ulong)left_payload + scalars.left_payload),
        as_uint2((ulong)right_payload + scalars.right_payload),
        as_uint2((ulong)splits + scalars.splits),
        as_uint2((ulong)keys_out + scalars.keys_out),
        as_uint2((ulong)payload_out + scalars.payload_out),
        scalars.left_rows,
        scalars.right_rows,
        scalars.run,
        scalars.tiles,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}
#endif
