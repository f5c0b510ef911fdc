// Kernel block_sort in OpenCL C 1.2, translated from shaders/block_sort.comp by make generate; do not edit.
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
    ulong keys_in;
    ulong payload_in;
    ulong keys_out;
    ulong payload_out;
    uint rows;
    uint tiles;
    uint first_group;
    uint end_group;
} Scalars;

typedef struct {
    uint2 keys_in;
    uint2 payload_in;
    uint2 keys_out;
    uint2 payload_out;
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

#if KEY_BITS == 32 || PAYLOAD_BITS == 32
INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
}
#endif

#if KEY_BITS == 32
INLINE bool less(uint a, uint b) {
    return a < b;
}
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 0 && SERIAL == 1
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS);
    __global uint* keys = column32_from(args->keys_in, begin);
    __global uint* to_keys = column32_from(args->keys_out, begin);
    for (uint i = 0u; i < count; ++i) {
        uint key = keys[i];
        uint to = i;
        for (; to > 0u; --to) {
            uint other = to_keys[to - 1u];
            if (!less(key, other)) break;
            to_keys[to] = other;
        }
        to_keys[to] = key;
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

#if PAYLOAD_BITS >= 32
INLINE bool absent(uint2 address) {
    return all(address == (uint2)(0u));
}
#endif

#if PAYLOAD_BITS == 32
INLINE uint widen(uint a, uint like) {
    return a;
}
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 32 && SERIAL == 1
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS);
    __global uint* keys = column32_from(args->keys_in, begin);
    __global uint* to_keys = column32_from(args->keys_out, begin);
    __global uint* payload = column32_from(args->payload_in, begin);
    __global uint* to_payload = column32_from(args->payload_out, begin);
    bool numbered = absent(args->payload_in);
    for (uint i = 0u; i < count; ++i) {
        uint key = keys[i];
        uint value = widen(begin + i, 0u);
        if (!numbered) {
            value = payload[i];
        }
        uint to = i;
        for (; to > 0u; --to) {
            uint other = to_keys[to - 1u];
            if (!less(key, other)) break;
            to_keys[to] = other;
            to_payload[to] = to_payload[to - 1u];
        }
        to_keys[to] = key;
        to_payload[to] = value;
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

#if PAYLOAD_BITS == 64
INLINE uint2 widen(uint a, uint2 like) {
    return (uint2)(a, 0u);
}
#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 64 && SERIAL == 1
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS);
    __global uint* keys = column32_from(args->keys_in, begin);
    __global uint* to_keys = column32_from(args->keys_out, begin);
    __global uint2* payload = column64_from(args->payload_in, begin);
    __global uint2* to_payload = column64_from(args->payload_out, begin);
    bool numbered = absent(args->payload_in);
    for (uint i = 0u; i < count; ++i) {
        uint key = keys[i];
        uint2 value = widen(begin + i, (uint2)(0u));
        if (!numbered) {
            value = payload[i];
        }
        uint to = i;
        for (; to > 0u; --to) {
            uint other = to_keys[to - 1u];
            if (!less(key, other)) break;
            to_keys[to] = other;
            to_payload[to] = to_payload[to - 1u];
        }
        to_keys[to] = key;
        to_payload[to] = value;
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

#if KEY_BITS == 64 && PAYLOAD_BITS == 0 && SERIAL == 1
INLINE void kernel_main(const Arguments* args) {
    uint group = args->first_group + WORKGROUP_ID_Y * 0x8000u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= args->tiles) return;
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS);
    __global uint2* keys = column64_from(args->keys_in, begin);
    __global uint2* to_keys = column64_from(args->keys_out, begin);
    for (uint i = 0u; i < count; ++i) {
        uint2 key = keys[i];
        uint to = i;
        for (; to > 0u; --to) {
            uint2 other = to_keys[to - 1u];
            if (!less(key, other)) break;
            to_keys[to] = other;
        }
        to_keys[to] = key;
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
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS);
    __global uint2* keys = column64_from(args->keys_in, begin);
    __global uint2* to_keys = column64_from(args->keys_out, begin);
    __global uint* payload = column32_from(args->payload_in, begin);
    __global uint* to_payload = column32_from(args->payload_out, begin);
    bool numbered = absent(args->payload_in);
    for (uint i = 0u; i < count; ++i) {
        uint2 key = keys[i];
        uint value = widen(begin + i, 0u);
        if (!numbered) {
            value = payload[i];
        }
        uint to = i;
        for (; to > 0u; --to) {
            uint2 other = to_keys[to - 1u];
            if (!less(key, other)) break;
            to_keys[to] = other;
            to_payload[to] = to_payload[to - 1u];
        }
        to_keys[to] = key;
        to_payload[to] = value;
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
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    __global uint* keys = column32_from(args->keys_in, begin);
    __global uint* to_keys = column32_from(args->keys_out, begin);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        globals->key[k] = 0xffffffffu;
        if (i < count) {
            globals->key[k] = keys[i];
        }
    }
    put_striped(shared, globals);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        globals->key[k] = shared->sh_key[LOCAL_ID_X * ITEMS + k];
    }
    UNROLL
    for (uint round = 0u; round < ITEMS; ++round) {
        UNROLL
        for (uint k = round & 1u; k + 1u < ITEMS; k += 2u) {
            bool swap = less(globals->key[k + 1u], globals->key[k]);
            uint first = swap ? globals->key[k + 1u] : globals->key[k];
            globals->key[k + 1u] = swap ? globals->key[k] : globals->key[k + 1u];
            globals->key[k] = first;
        }
    }
    for (uint width = 1u; width < WORKGROUP; width *= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        put_blocked(shared, globals);
        uint first = LOCAL_ID_X / (2u * width) * 2u * width;
        uint right = min(first + width, WORKGROUP) * ITEMS;
        uint end = min(first + 2u * width, WORKGROUP) * ITEMS;
        merge_items(shared, globals, first * ITEMS, right, end, (LOCAL_ID_X - first) * ITEMS);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, globals);
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
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    __global uint* keys = column32_from(args->keys_in, begin);
    __global uint* to_keys = column32_from(args->keys_out, begin);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        globals->key[k] = 0xffffffffu;
        if (i < count) {
            globals->key[k] = keys[i];
        }
    }
    __global uint* values = column32_from(args->payload_in, begin);
    __global uint* to_payload = column32_from(args->payload_out, begin);
    bool numbered = absent(args->payload_in);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        globals->payload[k] = widen(begin + i, 0u);
        if (!numbered && i < count) {
            globals->payload[k] = values[i];
        }
    }
    put_striped(shared, globals);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        globals->key[k] = shared->sh_key[LOCAL_ID_X * ITEMS + k];
        globals->payload[k] = shared->sh_payload[LOCAL_ID_X * ITEMS + k];
    }
    UNROLL
    for (uint round = 0u; round < ITEMS; ++round) {
        UNROLL
        for (uint k = round & 1u; k + 1u < ITEMS; k += 2u) {
            bool swap = less(globals->key[k + 1u], globals->key[k]);
            uint first = swap ? globals->key[k + 1u] : globals->key[k];
            globals->key[k + 1u] = swap ? globals->key[k] : globals->key[k + 1u];
            globals->key[k] = first;
            uint first_value = swap ? globals->payload[k + 1u] : globals->payload[k];
            globals->payload[k + 1u] = swap ? globals->payload[k] : globals->payload[k + 1u];
            globals->payload[k] = first_value;
        }
    }
    for (uint width = 1u; width < WORKGROUP; width *= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        put_blocked(shared, globals);
        uint first = LOCAL_ID_X / (2u * width) * 2u * width;
        uint right = min(first + width, WORKGROUP) * ITEMS;
        uint end = min(first + 2u * width, WORKGROUP) * ITEMS;
        merge_items(shared, globals, first * ITEMS, right, end, (LOCAL_ID_X - first) * ITEMS);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, globals);
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
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    __global uint* keys = column32_from(args->keys_in, begin);
    __global uint* to_keys = column32_from(args->keys_out, begin);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        globals->key[k] = 0xffffffffu;
        if (i < count) {
            globals->key[k] = keys[i];
        }
    }
    __global uint2* values = column64_from(args->payload_in, begin);
    __global uint2* to_payload = column64_from(args->payload_out, begin);
    bool numbered = absent(args->payload_in);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        globals->payload[k] = widen(begin + i, (uint2)(0u));
        if (!numbered && i < count) {
            globals->payload[k] = values[i];
        }
    }
    put_striped(shared, globals);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        globals->key[k] = shared->sh_key[LOCAL_ID_X * ITEMS + k];
        globals->payload[k] = shared->sh_payload[LOCAL_ID_X * ITEMS + k];
    }
    UNROLL
    for (uint round = 0u; round < ITEMS; ++round) {
        UNROLL
        for (uint k = round & 1u; k + 1u < ITEMS; k += 2u) {
            bool swap = less(globals->key[k + 1u], globals->key[k]);
            uint first = swap ? globals->key[k + 1u] : globals->key[k];
            globals->key[k + 1u] = swap ? globals->key[k] : globals->key[k + 1u];
            globals->key[k] = first;
            uint2 first_value = swap ? globals->payload[k + 1u] : globals->payload[k];
            globals->payload[k + 1u] = swap ? globals->payload[k] : globals->payload[k + 1u];
            globals->payload[k] = first_value;
        }
    }
    for (uint width = 1u; width < WORKGROUP; width *= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        put_blocked(shared, globals);
        uint first = LOCAL_ID_X / (2u * width) * 2u * width;
        uint right = min(first + width, WORKGROUP) * ITEMS;
        uint end = min(first + 2u * width, WORKGROUP) * ITEMS;
        merge_items(shared, globals, first * ITEMS, right, end, (LOCAL_ID_X - first) * ITEMS);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, globals);
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
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    __global uint2* keys = column64_from(args->keys_in, begin);
    __global uint2* to_keys = column64_from(args->keys_out, begin);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        globals->key[k] = (uint2)(0xffffffffu);
        if (i < count) {
            globals->key[k] = keys[i];
        }
    }
    put_striped(shared, globals);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        globals->key[k] = shared->sh_key[LOCAL_ID_X * ITEMS + k];
    }
    UNROLL
    for (uint round = 0u; round < ITEMS; ++round) {
        UNROLL
        for (uint k = round & 1u; k + 1u < ITEMS; k += 2u) {
            bool swap = less(globals->key[k + 1u], globals->key[k]);
            uint2 first = swap ? globals->key[k + 1u] : globals->key[k];
            globals->key[k + 1u] = swap ? globals->key[k] : globals->key[k + 1u];
            globals->key[k] = first;
        }
    }
    for (uint width = 1u; width < WORKGROUP; width *= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        put_blocked(shared, globals);
        uint first = LOCAL_ID_X / (2u * width) * 2u * width;
        uint right = min(first + width, WORKGROUP) * ITEMS;
        uint end = min(first + 2u * width, WORKGROUP) * ITEMS;
        merge_items(shared, globals, first * ITEMS, right, end, (LOCAL_ID_X - first) * ITEMS);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, globals);
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
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    __global uint2* keys = column64_from(args->keys_in, begin);
    __global uint2* to_keys = column64_from(args->keys_out, begin);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        globals->key[k] = (uint2)(0xffffffffu);
        if (i < count) {
            globals->key[k] = keys[i];
        }
    }
    __global uint* values = column32_from(args->payload_in, begin);
    __global uint* to_payload = column32_from(args->payload_out, begin);
    bool numbered = absent(args->payload_in);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        globals->payload[k] = widen(begin + i, 0u);
        if (!numbered && i < count) {
            globals->payload[k] = values[i];
        }
    }
    put_striped(shared, globals);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        globals->key[k] = shared->sh_key[LOCAL_ID_X * ITEMS + k];
        globals->payload[k] = shared->sh_payload[LOCAL_ID_X * ITEMS + k];
    }
    UNROLL
    for (uint round = 0u; round < ITEMS; ++round) {
        UNROLL
        for (uint k = round & 1u; k + 1u < ITEMS; k += 2u) {
            bool swap = less(globals->key[k + 1u], globals->key[k]);
            uint2 first = swap ? globals->key[k + 1u] : globals->key[k];
            globals->key[k + 1u] = swap ? globals->key[k] : globals->key[k + 1u];
            globals->key[k] = first;
            uint first_value = swap ? globals->payload[k + 1u] : globals->payload[k];
            globals->payload[k + 1u] = swap ? globals->payload[k] : globals->payload[k + 1u];
            globals->payload[k] = first_value;
        }
    }
    for (uint width = 1u; width < WORKGROUP; width *= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        put_blocked(shared, globals);
        uint first = LOCAL_ID_X / (2u * width) * 2u * width;
        uint right = min(first + width, WORKGROUP) * ITEMS;
        uint end = min(first + 2u * width, WORKGROUP) * ITEMS;
        merge_items(shared, globals, first * ITEMS, right, end, (LOCAL_ID_X - first) * ITEMS);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, globals);
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
    uint count = rows_left(args->rows, begin, TILE_ROWS);
    __global uint2* keys = column64_from(args->keys_in, begin);
    __global uint2* to_keys = column64_from(args->keys_out, begin);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        globals->key[k] = (uint2)(0xffffffffu);
        if (i < count) {
            globals->key[k] = keys[i];
        }
    }
    __global uint2* values = column64_from(args->payload_in, begin);
    __global uint2* to_payload = column64_from(args->payload_out, begin);
    bool numbered = absent(args->payload_in);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        globals->payload[k] = widen(begin + i, (uint2)(0u));
        if (!numbered && i < count) {
            globals->payload[k] = values[i];
        }
    }
    put_striped(shared, globals);
    UNROLL
    for (uint k = 0u; k < ITEMS; ++k) {
        globals->key[k] = shared->sh_key[LOCAL_ID_X * ITEMS + k];
        globals->payload[k] = shared->sh_payload[LOCAL_ID_X * ITEMS + k];
    }
    UNROLL
    for (uint round = 0u; round < ITEMS; ++round) {
        UNROLL
        for (uint k = round & 1u; k + 1u < ITEMS; k += 2u) {
            bool swap = less(globals->key[k + 1u], globals->key[k]);
            uint2 first = swap ? globals->key[k + 1u] : globals->key[k];
            globals->key[k + 1u] = swap ? globals->key[k] : globals->key[k + 1u];
            globals->key[k] = first;
            uint2 first_value = swap ? globals->payload[k + 1u] : globals->payload[k];
            globals->payload[k + 1u] = swap ? globals->payload[k] : globals->payload[k + 1u];
            globals->payload[k] = first_value;
        }
    }
    for (uint width = 1u; width < WORKGROUP; width *= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        put_blocked(shared, globals);
        uint first = LOCAL_ID_X / (2u * width) * 2u * width;
        uint right = min(first + width, WORKGROUP) * ITEMS;
        uint end = min(first + 2u * width, WORKGROUP) * ITEMS;
        merge_items(shared, globals, first * ITEMS, right, end, (LOCAL_ID_X - first) * ITEMS);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, globals);
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
void block_sort(
    __global uchar* keys_in,
    __global uchar* payload_in,
    __global uchar* keys_out,
    __global uchar* payload_out,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)keys_in + scalars.keys_in),
        as_uint2((ulong)payload_in + scalars.payload_in),
        as_uint2((ulong)keys_out + scalars.keys_out),
        as_uint2((ulong)payload_out + scalars.payload_out),
        scalars.rows,
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
    uint begin = tile * ITEMS;
    uint count = rows_left(args->rows, begin, ITEMS);
    __global uint2* keys = column64_from(args->keys_in, begin);
    __global uint2* to_keys = column64_from(args->keys_out, begin);
    __global uint2* payload = column64_from(args->payload_in, begin);
    __global uint2* to_payload = column64_from(args->payload_out, begin);
    bool numbered = absent(args->payload_in);
    for (uint i = 0u; i < count; ++i) {
        uint2 key = keys[i];
        uint2 value = widen(begin + i, (uint2)(0u));
        if (!numbered) {
            value = payload[i];
        }
        uint to = i;
        for (; to > 0u; --to) {
            uint2 other = to_keys[to - 1u];
            if (!less(key, other)) break;
            to_keys[to] = other;
            to_payload[to] = to_payload[to - 1u];
        }
        to_keys[to] = key;
        to_payload[to] = value;
    }
}
#endif

#if SERIAL == 1
__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void block_sort(
    __global uchar* keys_in,
    __global uchar* payload_in,
    __global uchar* keys_out,
    __global uchar* payload_out,
    const Scalars scalars) {
    const Arguments arguments = {
        as_uint2((ulong)keys_in + scalars.keys_in),
        as_uint2((ulong)payload_in + scalars.payload_in),
        as_uint2((ulong)keys_out + scalars.keys_out),
        as_uint2((ulong)payload_out + scalars.payload_out),
        scalars.rows,
        scalars.tiles,
        scalars.first_group,
        scalars.end_group,
    };
    const Arguments* args = &arguments;
    kernel_main(args);
}
#endif
