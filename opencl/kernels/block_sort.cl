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
#pragma OPENCL FP_CONTRACT OFF

#if KEY_BITS == 32 && SERIAL == 0
typedef struct { uint v[WORKGROUP * ITEMS + 1u]; } uint_xworkgroup_items_1u;

#endif

#if (KEY_BITS == 32 && SERIAL == 0) || (PAYLOAD_BITS == 32 && SERIAL == 0)
typedef struct { uint v[ITEMS]; } uint_xitems;

#endif

typedef struct { uint2 keys_in; uint2 payload_in; uint2 keys_out; uint2 payload_out; uint rows; uint tiles; uint first_group; uint end_group; } Push;

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

#if SERIAL == 0
typedef struct { uint v[2u]; } uint_x2u;

#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 0 && SERIAL == 0
typedef struct {
    uint_xworkgroup_items_1u sh_key;
    uint_x2u sh_low;
    uint_x2u sh_passed;
} Shared;

typedef struct {
    uint right_last;
    uint left_first;
    uint_xitems key;
} Own;

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
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS);
    __global uint* keys = column32_from(push->keys_in, begin);
    __global uint* to_keys = column32_from(push->keys_out, begin);
    uint i = 0u;
    for (; i < count; i = i + 1) {
        uint key = keys[i];
        uint to = i;
        for (; to > 0u; to = to - 1) {
            uint other = to_keys[to - 1u];
            if (!less(key, other)) {
                break;
            }
            to_keys[to] = other;
        }
        to_keys[to] = key;
    }
}

#endif

#if PAYLOAD_BITS == 32 && SERIAL == 0
typedef struct { uint v[WORKGROUP * ITEMS]; } uint_xworkgroup_items;

#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 32 && SERIAL == 0
typedef struct {
    uint_xworkgroup_items_1u sh_key;
    uint_xworkgroup_items sh_payload;
    uint_x2u sh_low;
    uint_x2u sh_passed;
} Shared;

typedef struct {
    uint right_last;
    uint left_first;
    uint_xitems key;
    uint_xitems payload;
} Own;

#endif

#if PAYLOAD_BITS == 32 || PAYLOAD_BITS == 64
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
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS);
    __global uint* keys = column32_from(push->keys_in, begin);
    __global uint* to_keys = column32_from(push->keys_out, begin);
    __global uint* payload = column32_from(push->payload_in, begin);
    __global uint* to_payload = column32_from(push->payload_out, begin);
    bool numbered = absent(push->payload_in);
    uint i = 0u;
    for (; i < count; i = i + 1) {
        uint key = keys[i];
        uint value = widen(begin + i, 0u);
        if (!numbered) {
            value = payload[i];
        }
        uint to = i;
        for (; to > 0u; to = to - 1) {
            uint other = to_keys[to - 1u];
            if (!less(key, other)) {
                break;
            }
            to_keys[to] = other;
            to_payload[to] = to_payload[to - 1u];
        }
        to_keys[to] = key;
        to_payload[to] = value;
    }
}

#endif

#if (PAYLOAD_BITS == 64 && SERIAL == 0) || (KEY_BITS == 64 && SERIAL == 0)
typedef struct { uint2 v[ITEMS]; } uint2_xitems;

#endif

#if PAYLOAD_BITS == 64 && SERIAL == 0
typedef struct { uint2 v[WORKGROUP * ITEMS]; } uint2_xworkgroup_items;

#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 64 && SERIAL == 0
typedef struct {
    uint_xworkgroup_items_1u sh_key;
    uint2_xworkgroup_items sh_payload;
    uint_x2u sh_low;
    uint_x2u sh_passed;
} Shared;

typedef struct {
    uint right_last;
    uint left_first;
    uint_xitems key;
    uint2_xitems payload;
} Own;

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
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS);
    __global uint* keys = column32_from(push->keys_in, begin);
    __global uint* to_keys = column32_from(push->keys_out, begin);
    __global uint2* payload = column64_from(push->payload_in, begin);
    __global uint2* to_payload = column64_from(push->payload_out, begin);
    bool numbered = absent(push->payload_in);
    uint i = 0u;
    for (; i < count; i = i + 1) {
        uint key = keys[i];
        uint2 value = widen(begin + i, (uint2)(0u));
        if (!numbered) {
            value = payload[i];
        }
        uint to = i;
        for (; to > 0u; to = to - 1) {
            uint other = to_keys[to - 1u];
            if (!less(key, other)) {
                break;
            }
            to_keys[to] = other;
            to_payload[to] = to_payload[to - 1u];
        }
        to_keys[to] = key;
        to_payload[to] = value;
    }
}

#endif

#if KEY_BITS == 64 && SERIAL == 0
typedef struct { uint2 v[WORKGROUP * ITEMS + 1u]; } uint2_xworkgroup_items_1u;

#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 0 && SERIAL == 0
typedef struct {
    uint2_xworkgroup_items_1u sh_key;
    uint_x2u sh_low;
    uint_x2u sh_passed;
} Shared;

typedef struct {
    uint right_last;
    uint left_first;
    uint2_xitems key;
} Own;

#endif

#if PAYLOAD_BITS == 0 && SERIAL == 0
INLINE void put_striped(__local Shared* shared, Own* own) {
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        shared->sh_key.v[LOCAL_ID_X + k * WORKGROUP] = own->key.v[k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

INLINE void put_blocked(__local Shared* shared, Own* own) {
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        shared->sh_key.v[LOCAL_ID_X * ITEMS + k] = own->key.v[k];
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
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS);
    __global uint2* keys = column64_from(push->keys_in, begin);
    __global uint2* to_keys = column64_from(push->keys_out, begin);
    uint i = 0u;
    for (; i < count; i = i + 1) {
        uint2 key = keys[i];
        uint to = i;
        for (; to > 0u; to = to - 1) {
            uint2 other = to_keys[to - 1u];
            if (!less(key, other)) {
                break;
            }
            to_keys[to] = other;
        }
        to_keys[to] = key;
    }
}

#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 32 && SERIAL == 0
typedef struct {
    uint2_xworkgroup_items_1u sh_key;
    uint_xworkgroup_items sh_payload;
    uint_x2u sh_low;
    uint_x2u sh_passed;
} Shared;

typedef struct {
    uint right_last;
    uint left_first;
    uint2_xitems key;
    uint_xitems payload;
} Own;

#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 32 && SERIAL == 1
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS);
    __global uint2* keys = column64_from(push->keys_in, begin);
    __global uint2* to_keys = column64_from(push->keys_out, begin);
    __global uint* payload = column32_from(push->payload_in, begin);
    __global uint* to_payload = column32_from(push->payload_out, begin);
    bool numbered = absent(push->payload_in);
    uint i = 0u;
    for (; i < count; i = i + 1) {
        uint2 key = keys[i];
        uint value = widen(begin + i, 0u);
        if (!numbered) {
            value = payload[i];
        }
        uint to = i;
        for (; to > 0u; to = to - 1) {
            uint2 other = to_keys[to - 1u];
            if (!less(key, other)) {
                break;
            }
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
    uint2_xworkgroup_items_1u sh_key;
    uint2_xworkgroup_items sh_payload;
    uint_x2u sh_low;
    uint_x2u sh_passed;
} Shared;

typedef struct {
    uint right_last;
    uint left_first;
    uint2_xitems key;
    uint2_xitems payload;
} Own;

#endif

#if SERIAL == 0
INLINE bool before(__local Shared* shared, Own* own, uint which, uint row) {
    return !less(shared->sh_key.v[own->right_last - row], shared->sh_key.v[own->left_first + row]);
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

#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 0 && SERIAL == 0
INLINE void merge_items(__local Shared* shared, Own* own, uint left, uint right, uint end, uint diagonal) {
    own->left_first = left;
    own->right_last = right + diagonal - 1u;
    uint right_rows = end - right;
    uint variable;
    if (diagonal > right_rows) {
        variable = diagonal - right_rows;
    } else {
        variable = 0u;
    }
    uint param_2 = variable;
    uint param_3 = min(diagonal, right - left);
    uint from_left = search(shared, own, 0u, &param_2, &param_3);
    uint a = left + from_left;
    uint b = right + diagonal - from_left;
    uint left_key = shared->sh_key.v[a];
    uint right_key = shared->sh_key.v[b];
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        bool is_left = (b >= end) || (a < right && !less(right_key, left_key));
        uint at = is_left ? a : b;
        own->key.v[k] = is_left ? left_key : right_key;
        uint next = shared->sh_key.v[at + 1u];
        if (is_left) {
            a = at + 1u;
            left_key = next;
        } else {
            b = at + 1u;
            right_key = next;
        }
    }
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint* keys = column32_from(push->keys_in, begin);
    __global uint* to_keys = column32_from(push->keys_out, begin);
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        own->key.v[k] = 4294967295u;
        if (i < count) {
            own->key.v[k] = keys[i];
        }
    }
    put_striped(shared, own);
    uint k_2 = 0u;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        own->key.v[k_2] = shared->sh_key.v[LOCAL_ID_X * ITEMS + k_2];
    }
    uint round = 0u;
    uint variable;
    uint variable_2;
    UNROLL
    for (; round < ITEMS; round = round + 1) {
        uint k_3 = round & 1u;
        UNROLL
        for (; (k_3 + 1u) < ITEMS; k_3 = k_3 + 2u) {
            bool swap = less(own->key.v[k_3 + 1u], own->key.v[k_3]);
            if (swap) {
                variable = own->key.v[k_3 + 1u];
            } else {
                variable = own->key.v[k_3];
            }
            uint first = variable;
            uint value = k_3 + 1u;
            if (swap) {
                variable_2 = own->key.v[k_3];
            } else {
                variable_2 = own->key.v[k_3 + 1u];
            }
            own->key.v[value] = variable_2;
            own->key.v[k_3] = first;
        }
    }
    uint width = 1u;
    for (; width < WORKGROUP; width = width * 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        put_blocked(shared, own);
        uint first_2 = LOCAL_ID_X / (2u * width) * 2u * width;
        uint right = min(first_2 + width, WORKGROUP) * ITEMS;
        uint end = min(first_2 + 2u * width, WORKGROUP) * ITEMS;
        merge_items(shared, own, first_2 * ITEMS, right, end, (LOCAL_ID_X - first_2) * ITEMS);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, own);
    uint k_4 = 0u;
    UNROLL
    for (; k_4 < ITEMS; k_4 = k_4 + 1) {
        uint i_2 = LOCAL_ID_X + k_4 * WORKGROUP;
        if (i_2 < count) {
            to_keys[i_2] = shared->sh_key.v[i_2];
        }
    }
}

#endif

#if (PAYLOAD_BITS == 32 && SERIAL == 0) || (PAYLOAD_BITS == 64 && SERIAL == 0)
INLINE void put_striped(__local Shared* shared, Own* own) {
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        shared->sh_key.v[LOCAL_ID_X + k * WORKGROUP] = own->key.v[k];
        shared->sh_payload.v[LOCAL_ID_X + k * WORKGROUP] = own->payload.v[k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

INLINE void put_blocked(__local Shared* shared, Own* own) {
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        shared->sh_key.v[LOCAL_ID_X * ITEMS + k] = own->key.v[k];
        shared->sh_payload.v[LOCAL_ID_X * ITEMS + k] = own->payload.v[k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

#endif

#if (KEY_BITS == 32 && PAYLOAD_BITS == 32 && SERIAL == 0) || (KEY_BITS == 32 && PAYLOAD_BITS == 64 && SERIAL == 0)
INLINE void merge_items(__local Shared* shared, Own* own, uint left, uint right, uint end, uint diagonal) {
    own->left_first = left;
    own->right_last = right + diagonal - 1u;
    uint right_rows = end - right;
    uint variable;
    if (diagonal > right_rows) {
        variable = diagonal - right_rows;
    } else {
        variable = 0u;
    }
    uint param_2 = variable;
    uint param_3 = min(diagonal, right - left);
    uint from_left = search(shared, own, 0u, &param_2, &param_3);
    uint a = left + from_left;
    uint b = right + diagonal - from_left;
    uint left_key = shared->sh_key.v[a];
    uint right_key = shared->sh_key.v[b];
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        bool is_left = (b >= end) || (a < right && !less(right_key, left_key));
        uint at = is_left ? a : b;
        own->key.v[k] = is_left ? left_key : right_key;
        own->payload.v[k] = shared->sh_payload.v[at];
        uint next = shared->sh_key.v[at + 1u];
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
INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint* keys = column32_from(push->keys_in, begin);
    __global uint* to_keys = column32_from(push->keys_out, begin);
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        own->key.v[k] = 4294967295u;
        if (i < count) {
            own->key.v[k] = keys[i];
        }
    }
    __global uint* values = column32_from(push->payload_in, begin);
    __global uint* to_payload = column32_from(push->payload_out, begin);
    bool numbered = absent(push->payload_in);
    uint k_2 = 0u;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        uint i_2 = LOCAL_ID_X + k_2 * WORKGROUP;
        own->payload.v[k_2] = widen(begin + i_2, 0u);
        if ((!numbered) && (i_2 < count)) {
            own->payload.v[k_2] = values[i_2];
        }
    }
    put_striped(shared, own);
    uint k_3 = 0u;
    UNROLL
    for (; k_3 < ITEMS; k_3 = k_3 + 1) {
        own->key.v[k_3] = shared->sh_key.v[LOCAL_ID_X * ITEMS + k_3];
        own->payload.v[k_3] = shared->sh_payload.v[LOCAL_ID_X * ITEMS + k_3];
    }
    uint round = 0u;
    uint variable;
    uint variable_2;
    uint variable_3;
    uint variable_4;
    UNROLL
    for (; round < ITEMS; round = round + 1) {
        uint k_4 = round & 1u;
        UNROLL
        for (; (k_4 + 1u) < ITEMS; k_4 = k_4 + 2u) {
            bool swap = less(own->key.v[k_4 + 1u], own->key.v[k_4]);
            if (swap) {
                variable = own->key.v[k_4 + 1u];
            } else {
                variable = own->key.v[k_4];
            }
            uint first = variable;
            uint value = k_4 + 1u;
            if (swap) {
                variable_2 = own->key.v[k_4];
            } else {
                variable_2 = own->key.v[k_4 + 1u];
            }
            own->key.v[value] = variable_2;
            own->key.v[k_4] = first;
            if (swap) {
                variable_3 = own->payload.v[k_4 + 1u];
            } else {
                variable_3 = own->payload.v[k_4];
            }
            uint first_value = variable_3;
            uint value_2 = k_4 + 1u;
            if (swap) {
                variable_4 = own->payload.v[k_4];
            } else {
                variable_4 = own->payload.v[k_4 + 1u];
            }
            own->payload.v[value_2] = variable_4;
            own->payload.v[k_4] = first_value;
        }
    }
    uint width = 1u;
    for (; width < WORKGROUP; width = width * 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        put_blocked(shared, own);
        uint first_2 = LOCAL_ID_X / (2u * width) * 2u * width;
        uint right = min(first_2 + width, WORKGROUP) * ITEMS;
        uint end = min(first_2 + 2u * width, WORKGROUP) * ITEMS;
        merge_items(shared, own, first_2 * ITEMS, right, end, (LOCAL_ID_X - first_2) * ITEMS);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, own);
    uint k_5 = 0u;
    UNROLL
    for (; k_5 < ITEMS; k_5 = k_5 + 1) {
        uint i_3 = LOCAL_ID_X + k_5 * WORKGROUP;
        if (i_3 < count) {
            to_keys[i_3] = shared->sh_key.v[i_3];
            to_payload[i_3] = shared->sh_payload.v[i_3];
        }
    }
}

#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 64 && SERIAL == 0
INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint* keys = column32_from(push->keys_in, begin);
    __global uint* to_keys = column32_from(push->keys_out, begin);
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        own->key.v[k] = 4294967295u;
        if (i < count) {
            own->key.v[k] = keys[i];
        }
    }
    __global uint2* values = column64_from(push->payload_in, begin);
    __global uint2* to_payload = column64_from(push->payload_out, begin);
    bool numbered = absent(push->payload_in);
    uint k_2 = 0u;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        uint i_2 = LOCAL_ID_X + k_2 * WORKGROUP;
        own->payload.v[k_2] = widen(begin + i_2, (uint2)(0u));
        if ((!numbered) && (i_2 < count)) {
            own->payload.v[k_2] = values[i_2];
        }
    }
    put_striped(shared, own);
    uint k_3 = 0u;
    UNROLL
    for (; k_3 < ITEMS; k_3 = k_3 + 1) {
        own->key.v[k_3] = shared->sh_key.v[LOCAL_ID_X * ITEMS + k_3];
        own->payload.v[k_3] = shared->sh_payload.v[LOCAL_ID_X * ITEMS + k_3];
    }
    uint round = 0u;
    uint variable;
    uint variable_2;
    uint2 variable_3;
    uint2 variable_4;
    UNROLL
    for (; round < ITEMS; round = round + 1) {
        uint k_4 = round & 1u;
        UNROLL
        for (; (k_4 + 1u) < ITEMS; k_4 = k_4 + 2u) {
            bool swap = less(own->key.v[k_4 + 1u], own->key.v[k_4]);
            if (swap) {
                variable = own->key.v[k_4 + 1u];
            } else {
                variable = own->key.v[k_4];
            }
            uint first = variable;
            uint value = k_4 + 1u;
            if (swap) {
                variable_2 = own->key.v[k_4];
            } else {
                variable_2 = own->key.v[k_4 + 1u];
            }
            own->key.v[value] = variable_2;
            own->key.v[k_4] = first;
            if (swap) {
                variable_3 = own->payload.v[k_4 + 1u];
            } else {
                variable_3 = own->payload.v[k_4];
            }
            uint2 first_value = variable_3;
            uint value_2 = k_4 + 1u;
            if (swap) {
                variable_4 = own->payload.v[k_4];
            } else {
                variable_4 = own->payload.v[k_4 + 1u];
            }
            own->payload.v[value_2] = variable_4;
            own->payload.v[k_4] = first_value;
        }
    }
    uint width = 1u;
    for (; width < WORKGROUP; width = width * 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        put_blocked(shared, own);
        uint first_2 = LOCAL_ID_X / (2u * width) * 2u * width;
        uint right = min(first_2 + width, WORKGROUP) * ITEMS;
        uint end = min(first_2 + 2u * width, WORKGROUP) * ITEMS;
        merge_items(shared, own, first_2 * ITEMS, right, end, (LOCAL_ID_X - first_2) * ITEMS);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, own);
    uint k_5 = 0u;
    UNROLL
    for (; k_5 < ITEMS; k_5 = k_5 + 1) {
        uint i_3 = LOCAL_ID_X + k_5 * WORKGROUP;
        if (i_3 < count) {
            to_keys[i_3] = shared->sh_key.v[i_3];
            to_payload[i_3] = shared->sh_payload.v[i_3];
        }
    }
}

#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 0 && SERIAL == 0
INLINE void merge_items(__local Shared* shared, Own* own, uint left, uint right, uint end, uint diagonal) {
    own->left_first = left;
    own->right_last = right + diagonal - 1u;
    uint right_rows = end - right;
    uint variable;
    if (diagonal > right_rows) {
        variable = diagonal - right_rows;
    } else {
        variable = 0u;
    }
    uint param_2 = variable;
    uint param_3 = min(diagonal, right - left);
    uint from_left = search(shared, own, 0u, &param_2, &param_3);
    uint a = left + from_left;
    uint b = right + diagonal - from_left;
    uint2 left_key = shared->sh_key.v[a];
    uint2 right_key = shared->sh_key.v[b];
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        bool is_left = (b >= end) || (a < right && !less(right_key, left_key));
        uint at = is_left ? a : b;
        own->key.v[k] = is_left ? left_key : right_key;
        uint2 next = shared->sh_key.v[at + 1u];
        if (is_left) {
            a = at + 1u;
            left_key = next;
        } else {
            b = at + 1u;
            right_key = next;
        }
    }
}

INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint2* keys = column64_from(push->keys_in, begin);
    __global uint2* to_keys = column64_from(push->keys_out, begin);
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        own->key.v[k] = (uint2)(4294967295u);
        if (i < count) {
            own->key.v[k] = keys[i];
        }
    }
    put_striped(shared, own);
    uint k_2 = 0u;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        own->key.v[k_2] = shared->sh_key.v[LOCAL_ID_X * ITEMS + k_2];
    }
    uint round = 0u;
    uint2 variable;
    uint2 variable_2;
    UNROLL
    for (; round < ITEMS; round = round + 1) {
        uint k_3 = round & 1u;
        UNROLL
        for (; (k_3 + 1u) < ITEMS; k_3 = k_3 + 2u) {
            bool swap = less(own->key.v[k_3 + 1u], own->key.v[k_3]);
            if (swap) {
                variable = own->key.v[k_3 + 1u];
            } else {
                variable = own->key.v[k_3];
            }
            uint2 first = variable;
            uint value = k_3 + 1u;
            if (swap) {
                variable_2 = own->key.v[k_3];
            } else {
                variable_2 = own->key.v[k_3 + 1u];
            }
            own->key.v[value] = variable_2;
            own->key.v[k_3] = first;
        }
    }
    uint width = 1u;
    for (; width < WORKGROUP; width = width * 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        put_blocked(shared, own);
        uint first_2 = LOCAL_ID_X / (2u * width) * 2u * width;
        uint right = min(first_2 + width, WORKGROUP) * ITEMS;
        uint end = min(first_2 + 2u * width, WORKGROUP) * ITEMS;
        merge_items(shared, own, first_2 * ITEMS, right, end, (LOCAL_ID_X - first_2) * ITEMS);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, own);
    uint k_4 = 0u;
    UNROLL
    for (; k_4 < ITEMS; k_4 = k_4 + 1) {
        uint i_2 = LOCAL_ID_X + k_4 * WORKGROUP;
        if (i_2 < count) {
            to_keys[i_2] = shared->sh_key.v[i_2];
        }
    }
}

#endif

#if (KEY_BITS == 64 && PAYLOAD_BITS == 32 && SERIAL == 0) || (KEY_BITS == 64 && PAYLOAD_BITS == 64 && SERIAL == 0)
INLINE void merge_items(__local Shared* shared, Own* own, uint left, uint right, uint end, uint diagonal) {
    own->left_first = left;
    own->right_last = right + diagonal - 1u;
    uint right_rows = end - right;
    uint variable;
    if (diagonal > right_rows) {
        variable = diagonal - right_rows;
    } else {
        variable = 0u;
    }
    uint param_2 = variable;
    uint param_3 = min(diagonal, right - left);
    uint from_left = search(shared, own, 0u, &param_2, &param_3);
    uint a = left + from_left;
    uint b = right + diagonal - from_left;
    uint2 left_key = shared->sh_key.v[a];
    uint2 right_key = shared->sh_key.v[b];
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        bool is_left = (b >= end) || (a < right && !less(right_key, left_key));
        uint at = is_left ? a : b;
        own->key.v[k] = is_left ? left_key : right_key;
        own->payload.v[k] = shared->sh_payload.v[at];
        uint2 next = shared->sh_key.v[at + 1u];
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
INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint2* keys = column64_from(push->keys_in, begin);
    __global uint2* to_keys = column64_from(push->keys_out, begin);
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        own->key.v[k] = (uint2)(4294967295u);
        if (i < count) {
            own->key.v[k] = keys[i];
        }
    }
    __global uint* values = column32_from(push->payload_in, begin);
    __global uint* to_payload = column32_from(push->payload_out, begin);
    bool numbered = absent(push->payload_in);
    uint k_2 = 0u;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        uint i_2 = LOCAL_ID_X + k_2 * WORKGROUP;
        own->payload.v[k_2] = widen(begin + i_2, 0u);
        if ((!numbered) && (i_2 < count)) {
            own->payload.v[k_2] = values[i_2];
        }
    }
    put_striped(shared, own);
    uint k_3 = 0u;
    UNROLL
    for (; k_3 < ITEMS; k_3 = k_3 + 1) {
        own->key.v[k_3] = shared->sh_key.v[LOCAL_ID_X * ITEMS + k_3];
        own->payload.v[k_3] = shared->sh_payload.v[LOCAL_ID_X * ITEMS + k_3];
    }
    uint round = 0u;
    uint2 variable;
    uint2 variable_2;
    uint variable_3;
    uint variable_4;
    UNROLL
    for (; round < ITEMS; round = round + 1) {
        uint k_4 = round & 1u;
        UNROLL
        for (; (k_4 + 1u) < ITEMS; k_4 = k_4 + 2u) {
            bool swap = less(own->key.v[k_4 + 1u], own->key.v[k_4]);
            if (swap) {
                variable = own->key.v[k_4 + 1u];
            } else {
                variable = own->key.v[k_4];
            }
            uint2 first = variable;
            uint value = k_4 + 1u;
            if (swap) {
                variable_2 = own->key.v[k_4];
            } else {
                variable_2 = own->key.v[k_4 + 1u];
            }
            own->key.v[value] = variable_2;
            own->key.v[k_4] = first;
            if (swap) {
                variable_3 = own->payload.v[k_4 + 1u];
            } else {
                variable_3 = own->payload.v[k_4];
            }
            uint first_value = variable_3;
            uint value_2 = k_4 + 1u;
            if (swap) {
                variable_4 = own->payload.v[k_4];
            } else {
                variable_4 = own->payload.v[k_4 + 1u];
            }
            own->payload.v[value_2] = variable_4;
            own->payload.v[k_4] = first_value;
        }
    }
    uint width = 1u;
    for (; width < WORKGROUP; width = width * 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        put_blocked(shared, own);
        uint first_2 = LOCAL_ID_X / (2u * width) * 2u * width;
        uint right = min(first_2 + width, WORKGROUP) * ITEMS;
        uint end = min(first_2 + 2u * width, WORKGROUP) * ITEMS;
        merge_items(shared, own, first_2 * ITEMS, right, end, (LOCAL_ID_X - first_2) * ITEMS);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, own);
    uint k_5 = 0u;
    UNROLL
    for (; k_5 < ITEMS; k_5 = k_5 + 1) {
        uint i_3 = LOCAL_ID_X + k_5 * WORKGROUP;
        if (i_3 < count) {
            to_keys[i_3] = shared->sh_key.v[i_3];
            to_payload[i_3] = shared->sh_payload.v[i_3];
        }
    }
}

#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 64 && SERIAL == 0
INLINE void run(const Push* push, __local Shared* shared, Own* own) {
    uint tile = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint begin = tile * (WORKGROUP * ITEMS);
    uint count = rows_left(push->rows, begin, WORKGROUP * ITEMS);
    __global uint2* keys = column64_from(push->keys_in, begin);
    __global uint2* to_keys = column64_from(push->keys_out, begin);
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        own->key.v[k] = (uint2)(4294967295u);
        if (i < count) {
            own->key.v[k] = keys[i];
        }
    }
    __global uint2* values = column64_from(push->payload_in, begin);
    __global uint2* to_payload = column64_from(push->payload_out, begin);
    bool numbered = absent(push->payload_in);
    uint k_2 = 0u;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        uint i_2 = LOCAL_ID_X + k_2 * WORKGROUP;
        own->payload.v[k_2] = widen(begin + i_2, (uint2)(0u));
        if ((!numbered) && (i_2 < count)) {
            own->payload.v[k_2] = values[i_2];
        }
    }
    put_striped(shared, own);
    uint k_3 = 0u;
    UNROLL
    for (; k_3 < ITEMS; k_3 = k_3 + 1) {
        own->key.v[k_3] = shared->sh_key.v[LOCAL_ID_X * ITEMS + k_3];
        own->payload.v[k_3] = shared->sh_payload.v[LOCAL_ID_X * ITEMS + k_3];
    }
    uint round = 0u;
    uint2 variable;
    uint2 variable_2;
    uint2 variable_3;
    uint2 variable_4;
    UNROLL
    for (; round < ITEMS; round = round + 1) {
        uint k_4 = round & 1u;
        UNROLL
        for (; (k_4 + 1u) < ITEMS; k_4 = k_4 + 2u) {
            bool swap = less(own->key.v[k_4 + 1u], own->key.v[k_4]);
            if (swap) {
                variable = own->key.v[k_4 + 1u];
            } else {
                variable = own->key.v[k_4];
            }
            uint2 first = variable;
            uint value = k_4 + 1u;
            if (swap) {
                variable_2 = own->key.v[k_4];
            } else {
                variable_2 = own->key.v[k_4 + 1u];
            }
            own->key.v[value] = variable_2;
            own->key.v[k_4] = first;
            if (swap) {
                variable_3 = own->payload.v[k_4 + 1u];
            } else {
                variable_3 = own->payload.v[k_4];
            }
            uint2 first_value = variable_3;
            uint value_2 = k_4 + 1u;
            if (swap) {
                variable_4 = own->payload.v[k_4];
            } else {
                variable_4 = own->payload.v[k_4 + 1u];
            }
            own->payload.v[value_2] = variable_4;
            own->payload.v[k_4] = first_value;
        }
    }
    uint width = 1u;
    for (; width < WORKGROUP; width = width * 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        put_blocked(shared, own);
        uint first_2 = LOCAL_ID_X / (2u * width) * 2u * width;
        uint right = min(first_2 + width, WORKGROUP) * ITEMS;
        uint end = min(first_2 + 2u * width, WORKGROUP) * ITEMS;
        merge_items(shared, own, first_2 * ITEMS, right, end, (LOCAL_ID_X - first_2) * ITEMS);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, own);
    uint k_5 = 0u;
    UNROLL
    for (; k_5 < ITEMS; k_5 = k_5 + 1) {
        uint i_3 = LOCAL_ID_X + k_5 * WORKGROUP;
        if (i_3 < count) {
            to_keys[i_3] = shared->sh_key.v[i_3];
            to_payload[i_3] = shared->sh_payload.v[i_3];
        }
    }
}

#endif

#if SERIAL == 0
typedef struct {
    ulong keys_in;
    ulong payload_in;
    ulong keys_out;
    ulong payload_out;
    uint rows;
    uint tiles;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void block_sort(__global uchar* keys_in, __global uchar* payload_in, __global uchar* keys_out, __global uchar* payload_out, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    Own variables;
    Own* own = &variables;
    const Push addresses = {
        as_uint2((ulong)keys_in + words.keys_in),
        as_uint2((ulong)payload_in + words.payload_in),
        as_uint2((ulong)keys_out + words.keys_out),
        as_uint2((ulong)payload_out + words.payload_out),
        words.rows,
        words.tiles,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push, shared, own);
}

#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 64 && SERIAL == 1
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint begin = tile * ITEMS;
    uint count = rows_left(push->rows, begin, ITEMS);
    __global uint2* keys = column64_from(push->keys_in, begin);
    __global uint2* to_keys = column64_from(push->keys_out, begin);
    __global uint2* payload = column64_from(push->payload_in, begin);
    __global uint2* to_payload = column64_from(push->payload_out, begin);
    bool numbered = absent(push->payload_in);
    uint i = 0u;
    for (; i < count; i = i + 1) {
        uint2 key = keys[i];
        uint2 value = widen(begin + i, (uint2)(0u));
        if (!numbered) {
            value = payload[i];
        }
        uint to = i;
        for (; to > 0u; to = to - 1) {
            uint2 other = to_keys[to - 1u];
            if (!less(key, other)) {
                break;
            }
            to_keys[to] = other;
            to_payload[to] = to_payload[to - 1u];
        }
        to_keys[to] = key;
        to_payload[to] = value;
    }
}

#endif

#if SERIAL == 1
typedef struct {
    ulong keys_in;
    ulong payload_in;
    ulong keys_out;
    ulong payload_out;
    uint rows;
    uint tiles;
    uint first_group;
    uint end_group;
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void block_sort(__global uchar* keys_in, __global uchar* payload_in, __global uchar* keys_out, __global uchar* payload_out, const Words words) {
    const Push addresses = {
        as_uint2((ulong)keys_in + words.keys_in),
        as_uint2((ulong)payload_in + words.payload_in),
        as_uint2((ulong)keys_out + words.keys_out),
        as_uint2((ulong)payload_out + words.payload_out),
        words.rows,
        words.tiles,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

#endif
