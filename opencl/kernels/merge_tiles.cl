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
#pragma OPENCL FP_CONTRACT OFF

#if KEY_BITS == 32 && SERIAL == 0
typedef struct { uint v[WORKGROUP * ITEMS + 1u]; } uint_xworkgroup_items_1u;

#endif

#if (KEY_BITS == 32 && SERIAL == 0) || (PAYLOAD_BITS == 32 && SERIAL == 0)
typedef struct { uint v[ITEMS]; } uint_xitems;

#endif

typedef struct { uint2 left_keys; uint2 right_keys; uint2 left_payload; uint2 right_payload; uint2 splits; uint2 keys_out; uint2 payload_out; uint left_rows; uint right_rows; uint run; uint tiles; uint first_group; uint end_group; } Push;

typedef struct { uint left; uint left_rows; uint right; uint right_rows; } Runs;

INLINE Runs runs_at(uint row, uint left_rows, uint right_rows, uint run_2) {
    if (run_2 == 0u) {
        return (Runs){0u, left_rows, 0u, right_rows};
    }
    uint left = ((row / run_2) & 4294967294u) * run_2;
    uint rest = left_rows - left;
    uint n = min(run_2, rest);
    return (Runs){left, n, left + n, min(run_2, rest - n)};
}

INLINE uint2 element_address(uint2 base, uint row, uint log2_bytes) {
    return as_uint2(as_ulong(base) + ((ulong)row << log2_bytes));
}

INLINE __global uint* column32_from(uint2 base, uint row) {
    return (__global uint*)as_ulong(element_address(base, row, 2u));
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

#if KEY_BITS == 32
INLINE bool less(uint a, uint b) {
    return a < b;
}

#endif

#if SERIAL == 1
INLINE uint rows_left(uint rows, uint first, uint size) {
    uint variable;
    if (first < rows) {
        variable = min(size, rows - first);
    } else {
        variable = 0u;
    }
    return variable;
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

typedef struct { uint2 keys; uint2 payload; uint at; uint rows; uint key; } Side;

#endif

#if KEY_BITS == 32 && PAYLOAD_BITS == 0 && SERIAL == 1
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint left_all = push->left_rows;
    uint right_all = push->right_rows;
    uint run_rows = push->run;
    uint begin = tile * ITEMS;
    uint variable;
    if (push->run == 0u) {
        variable = push->left_rows + push->right_rows;
    } else {
        variable = push->left_rows;
    }
    uint count = rows_left(variable, begin, ITEMS);
    __global uint* to_keys = column32_from(push->keys_out, begin);
    Runs runs = runs_at(begin, left_all, right_all, run_rows);
    uint diagonal = begin - runs.left;
    uint from_left = 0u;
    if (diagonal > 0u) {
        from_left = column32_from(push->splits, tile)[0];
    }
    Side left;
    left = (Side){push->left_keys, push->left_payload, runs.left + from_left, runs.left_rows - from_left, 0u};
    Side right;
    right = (Side){push->right_keys, push->right_payload, runs.right + diagonal - from_left, runs.right_rows - (diagonal - from_left), 0u};
    left.key = key_of(left.keys, left.at, left.rows);
    right.key = key_of(right.keys, right.at, right.rows);
    uint i = 0u;
    uint variable_2;
    uint variable_3;
    uint variable_4;
    uint2 variable_5;
    for (; i < count; i = i + 1) {
        if (left.rows == 0u && right.rows == 0u) {
            runs = runs_at(begin + i, left_all, right_all, run_rows);
            left.at = runs.left;
            left.rows = runs.left_rows;
            right.at = runs.right;
            right.rows = runs.right_rows;
            left.key = key_of(left.keys, left.at, left.rows);
            right.key = key_of(right.keys, right.at, right.rows);
        }
        bool is_left = (right.rows == 0u) || (left.rows > 0u && !less(right.key, left.key));
        if (is_left) {
            variable_2 = left.at;
        } else {
            variable_2 = right.at;
        }
        uint at = variable_2;
        if (is_left) {
            variable_3 = left.rows;
        } else {
            variable_3 = right.rows;
        }
        uint rows = variable_3 - 1u;
        __global uint* value = to_keys;
        uint value_2 = i;
        if (is_left) {
            variable_4 = left.key;
        } else {
            variable_4 = right.key;
        }
        value[value_2] = variable_4;
        at = at + 1;
        if (is_left) {
            variable_5 = left.keys;
        } else {
            variable_5 = right.keys;
        }
        uint next = key_of(variable_5, at, rows);
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

#if KEY_BITS == 32 && PAYLOAD_BITS == 32 && SERIAL == 1
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint left_all = push->left_rows;
    uint right_all = push->right_rows;
    uint run_rows = push->run;
    uint begin = tile * ITEMS;
    uint variable;
    if (push->run == 0u) {
        variable = push->left_rows + push->right_rows;
    } else {
        variable = push->left_rows;
    }
    uint count = rows_left(variable, begin, ITEMS);
    __global uint* to_keys = column32_from(push->keys_out, begin);
    __global uint* to_payload = column32_from(push->payload_out, begin);
    Runs runs = runs_at(begin, left_all, right_all, run_rows);
    uint diagonal = begin - runs.left;
    uint from_left = 0u;
    if (diagonal > 0u) {
        from_left = column32_from(push->splits, tile)[0];
    }
    Side left;
    left = (Side){push->left_keys, push->left_payload, runs.left + from_left, runs.left_rows - from_left, 0u};
    Side right;
    right = (Side){push->right_keys, push->right_payload, runs.right + diagonal - from_left, runs.right_rows - (diagonal - from_left), 0u};
    left.key = key_of(left.keys, left.at, left.rows);
    right.key = key_of(right.keys, right.at, right.rows);
    uint i = 0u;
    uint variable_2;
    uint variable_3;
    uint variable_4;
    uint2 variable_5;
    uint2 variable_6;
    for (; i < count; i = i + 1) {
        if (left.rows == 0u && right.rows == 0u) {
            runs = runs_at(begin + i, left_all, right_all, run_rows);
            left.at = runs.left;
            left.rows = runs.left_rows;
            right.at = runs.right;
            right.rows = runs.right_rows;
            left.key = key_of(left.keys, left.at, left.rows);
            right.key = key_of(right.keys, right.at, right.rows);
        }
        bool is_left = (right.rows == 0u) || (left.rows > 0u && !less(right.key, left.key));
        if (is_left) {
            variable_2 = left.at;
        } else {
            variable_2 = right.at;
        }
        uint at = variable_2;
        if (is_left) {
            variable_3 = left.rows;
        } else {
            variable_3 = right.rows;
        }
        uint rows = variable_3 - 1u;
        __global uint* value = to_keys;
        uint value_2 = i;
        if (is_left) {
            variable_4 = left.key;
        } else {
            variable_4 = right.key;
        }
        value[value_2] = variable_4;
        __global uint* value_3 = to_payload;
        uint value_4 = i;
        if (is_left) {
            variable_5 = left.payload;
        } else {
            variable_5 = right.payload;
        }
        value_3[value_4] = column32_from(variable_5, at)[0];
        at = at + 1;
        if (is_left) {
            variable_6 = left.keys;
        } else {
            variable_6 = right.keys;
        }
        uint next = key_of(variable_6, at, rows);
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

#if KEY_BITS == 32 && PAYLOAD_BITS == 64 && SERIAL == 1
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint left_all = push->left_rows;
    uint right_all = push->right_rows;
    uint run_rows = push->run;
    uint begin = tile * ITEMS;
    uint variable;
    if (push->run == 0u) {
        variable = push->left_rows + push->right_rows;
    } else {
        variable = push->left_rows;
    }
    uint count = rows_left(variable, begin, ITEMS);
    __global uint* to_keys = column32_from(push->keys_out, begin);
    __global uint2* to_payload = column64_from(push->payload_out, begin);
    Runs runs = runs_at(begin, left_all, right_all, run_rows);
    uint diagonal = begin - runs.left;
    uint from_left = 0u;
    if (diagonal > 0u) {
        from_left = column32_from(push->splits, tile)[0];
    }
    Side left;
    left = (Side){push->left_keys, push->left_payload, runs.left + from_left, runs.left_rows - from_left, 0u};
    Side right;
    right = (Side){push->right_keys, push->right_payload, runs.right + diagonal - from_left, runs.right_rows - (diagonal - from_left), 0u};
    left.key = key_of(left.keys, left.at, left.rows);
    right.key = key_of(right.keys, right.at, right.rows);
    uint i = 0u;
    uint variable_2;
    uint variable_3;
    uint variable_4;
    uint2 variable_5;
    uint2 variable_6;
    for (; i < count; i = i + 1) {
        if (left.rows == 0u && right.rows == 0u) {
            runs = runs_at(begin + i, left_all, right_all, run_rows);
            left.at = runs.left;
            left.rows = runs.left_rows;
            right.at = runs.right;
            right.rows = runs.right_rows;
            left.key = key_of(left.keys, left.at, left.rows);
            right.key = key_of(right.keys, right.at, right.rows);
        }
        bool is_left = (right.rows == 0u) || (left.rows > 0u && !less(right.key, left.key));
        if (is_left) {
            variable_2 = left.at;
        } else {
            variable_2 = right.at;
        }
        uint at = variable_2;
        if (is_left) {
            variable_3 = left.rows;
        } else {
            variable_3 = right.rows;
        }
        uint rows = variable_3 - 1u;
        __global uint* value = to_keys;
        uint value_2 = i;
        if (is_left) {
            variable_4 = left.key;
        } else {
            variable_4 = right.key;
        }
        value[value_2] = variable_4;
        __global uint2* value_3 = to_payload;
        uint value_4 = i;
        if (is_left) {
            variable_5 = left.payload;
        } else {
            variable_5 = right.payload;
        }
        value_3[value_4] = column64_from(variable_5, at)[0];
        at = at + 1;
        if (is_left) {
            variable_6 = left.keys;
        } else {
            variable_6 = right.keys;
        }
        uint next = key_of(variable_6, at, rows);
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

#if KEY_BITS == 64 && SERIAL == 1
INLINE uint2 key_of(uint2 keys, uint at, uint rows) {
    uint2 key = (uint2)(0u);
    if (rows > 0u) {
        key = column64_from(keys, at)[0];
    }
    return key;
}

typedef struct { uint2 keys; uint2 payload; uint at; uint rows; uint2 key; } Side;

#endif

#if KEY_BITS == 64 && PAYLOAD_BITS == 0 && SERIAL == 1
INLINE void run(const Push* push) {
    uint group = push->first_group + WORKGROUP_ID_Y * 32768u + WORKGROUP_ID_X;
    uint tile = group * WORKGROUP + LOCAL_ID_X;
    if (tile >= push->tiles) {
        return;
    }
    uint left_all = push->left_rows;
    uint right_all = push->right_rows;
    uint run_rows = push->run;
    uint begin = tile * ITEMS;
    uint variable;
    if (push->run == 0u) {
        variable = push->left_rows + push->right_rows;
    } else {
        variable = push->left_rows;
    }
    uint count = rows_left(variable, begin, ITEMS);
    __global uint2* to_keys = column64_from(push->keys_out, begin);
    Runs runs = runs_at(begin, left_all, right_all, run_rows);
    uint diagonal = begin - runs.left;
    uint from_left = 0u;
    if (diagonal > 0u) {
        from_left = column32_from(push->splits, tile)[0];
    }
    Side left;
    left = (Side){push->left_keys, push->left_payload, runs.left + from_left, runs.left_rows - from_left, (uint2)(0u)};
    Side right;
    right = (Side){push->right_keys, push->right_payload, runs.right + diagonal - from_left, runs.right_rows - (diagonal - from_left), (uint2)(0u)};
    left.key = key_of(left.keys, left.at, left.rows);
    right.key = key_of(right.keys, right.at, right.rows);
    uint i = 0u;
    uint variable_2;
    uint variable_3;
    uint2 variable_4;
    uint2 variable_5;
    for (; i < count; i = i + 1) {
        if (left.rows == 0u && right.rows == 0u) {
            runs = runs_at(begin + i, left_all, right_all, run_rows);
            left.at = runs.left;
            left.rows = runs.left_rows;
            right.at = runs.right;
            right.rows = runs.right_rows;
            left.key = key_of(left.keys, left.at, left.rows);
            right.key = key_of(right.keys, right.at, right.rows);
        }
        bool is_left = (right.rows == 0u) || (left.rows > 0u && !less(right.key, left.key));
        if (is_left) {
            variable_2 = left.at;
        } else {
            variable_2 = right.at;
        }
        uint at = variable_2;
        if (is_left) {
            variable_3 = left.rows;
        } else {
            variable_3 = right.rows;
        }
        uint rows = variable_3 - 1u;
        __global uint2* value = to_keys;
        uint value_2 = i;
        if (is_left) {
            variable_4 = left.key;
        } else {
            variable_4 = right.key;
        }
        value[value_2] = variable_4;
        at = at + 1;
        if (is_left) {
            variable_5 = left.keys;
        } else {
            variable_5 = right.keys;
        }
        uint2 next = key_of(variable_5, at, rows);
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
    uint left_all = push->left_rows;
    uint right_all = push->right_rows;
    uint run_rows = push->run;
    uint begin = tile * ITEMS;
    uint variable;
    if (push->run == 0u) {
        variable = push->left_rows + push->right_rows;
    } else {
        variable = push->left_rows;
    }
    uint count = rows_left(variable, begin, ITEMS);
    __global uint2* to_keys = column64_from(push->keys_out, begin);
    __global uint* to_payload = column32_from(push->payload_out, begin);
    Runs runs = runs_at(begin, left_all, right_all, run_rows);
    uint diagonal = begin - runs.left;
    uint from_left = 0u;
    if (diagonal > 0u) {
        from_left = column32_from(push->splits, tile)[0];
    }
    Side left;
    left = (Side){push->left_keys, push->left_payload, runs.left + from_left, runs.left_rows - from_left, (uint2)(0u)};
    Side right;
    right = (Side){push->right_keys, push->right_payload, runs.right + diagonal - from_left, runs.right_rows - (diagonal - from_left), (uint2)(0u)};
    left.key = key_of(left.keys, left.at, left.rows);
    right.key = key_of(right.keys, right.at, right.rows);
    uint i = 0u;
    uint variable_2;
    uint variable_3;
    uint2 variable_4;
    uint2 variable_5;
    uint2 variable_6;
    for (; i < count; i = i + 1) {
        if (left.rows == 0u && right.rows == 0u) {
            runs = runs_at(begin + i, left_all, right_all, run_rows);
            left.at = runs.left;
            left.rows = runs.left_rows;
            right.at = runs.right;
            right.rows = runs.right_rows;
            left.key = key_of(left.keys, left.at, left.rows);
            right.key = key_of(right.keys, right.at, right.rows);
        }
        bool is_left = (right.rows == 0u) || (left.rows > 0u && !less(right.key, left.key));
        if (is_left) {
            variable_2 = left.at;
        } else {
            variable_2 = right.at;
        }
        uint at = variable_2;
        if (is_left) {
            variable_3 = left.rows;
        } else {
            variable_3 = right.rows;
        }
        uint rows = variable_3 - 1u;
        __global uint2* value = to_keys;
        uint value_2 = i;
        if (is_left) {
            variable_4 = left.key;
        } else {
            variable_4 = right.key;
        }
        value[value_2] = variable_4;
        __global uint* value_3 = to_payload;
        uint value_4 = i;
        if (is_left) {
            variable_5 = left.payload;
        } else {
            variable_5 = right.payload;
        }
        value_3[value_4] = column32_from(variable_5, at)[0];
        at = at + 1;
        if (is_left) {
            variable_6 = left.keys;
        } else {
            variable_6 = right.keys;
        }
        uint2 next = key_of(variable_6, at, rows);
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
    Runs runs = runs_at(begin, push->left_rows, push->right_rows, push->run);
    uint diagonal = begin - runs.left;
    uint rest = runs.left_rows + runs.right_rows - diagonal;
    uint count = min(rest, WORKGROUP * ITEMS);
    uint from = column32_from(push->splits, tile)[0];
    uint end = runs.left_rows;
    if (rest > (WORKGROUP * ITEMS)) {
        end = column32_from(push->splits, tile + 1u)[0];
    }
    uint n = end - from;
    uint left;
    left = runs.left + from;
    uint right;
    right = runs.right + diagonal - from;
    __global uint* left_from = column32_from(push->left_keys, left);
    __global uint* right_from = column32_from(push->right_keys, right);
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        own->key.v[k] = 4294967295u;
        if (i < n) {
            own->key.v[k] = left_from[i];
        } else if (i < count) {
            own->key.v[k] = right_from[i - n];
        }
    }
    put_striped(shared, own);
    merge_items(shared, own, 0u, n, WORKGROUP * ITEMS, LOCAL_ID_X * ITEMS);
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, own);
    __global uint* to_keys = column32_from(push->keys_out, begin);
    uint k_2 = 0u;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        uint i_2 = LOCAL_ID_X + k_2 * WORKGROUP;
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
    Runs runs = runs_at(begin, push->left_rows, push->right_rows, push->run);
    uint diagonal = begin - runs.left;
    uint rest = runs.left_rows + runs.right_rows - diagonal;
    uint count = min(rest, WORKGROUP * ITEMS);
    uint from = column32_from(push->splits, tile)[0];
    uint end = runs.left_rows;
    if (rest > (WORKGROUP * ITEMS)) {
        end = column32_from(push->splits, tile + 1u)[0];
    }
    uint n = end - from;
    uint left;
    left = runs.left + from;
    uint right;
    right = runs.right + diagonal - from;
    __global uint* left_from = column32_from(push->left_keys, left);
    __global uint* right_from = column32_from(push->right_keys, right);
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        own->key.v[k] = 4294967295u;
        if (i < n) {
            own->key.v[k] = left_from[i];
        } else if (i < count) {
            own->key.v[k] = right_from[i - n];
        }
    }
    __global uint* left_value = column32_from(push->left_payload, left);
    __global uint* right_value = column32_from(push->right_payload, right);
    uint k_2 = 0u;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        uint i_2 = LOCAL_ID_X + k_2 * WORKGROUP;
        if (i_2 < n) {
            own->payload.v[k_2] = left_value[i_2];
        } else if (i_2 < count) {
            own->payload.v[k_2] = right_value[i_2 - n];
        }
    }
    put_striped(shared, own);
    merge_items(shared, own, 0u, n, WORKGROUP * ITEMS, LOCAL_ID_X * ITEMS);
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, own);
    __global uint* to_keys = column32_from(push->keys_out, begin);
    __global uint* to_payload = column32_from(push->payload_out, begin);
    uint k_3 = 0u;
    UNROLL
    for (; k_3 < ITEMS; k_3 = k_3 + 1) {
        uint i_3 = LOCAL_ID_X + k_3 * WORKGROUP;
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
    Runs runs = runs_at(begin, push->left_rows, push->right_rows, push->run);
    uint diagonal = begin - runs.left;
    uint rest = runs.left_rows + runs.right_rows - diagonal;
    uint count = min(rest, WORKGROUP * ITEMS);
    uint from = column32_from(push->splits, tile)[0];
    uint end = runs.left_rows;
    if (rest > (WORKGROUP * ITEMS)) {
        end = column32_from(push->splits, tile + 1u)[0];
    }
    uint n = end - from;
    uint left;
    left = runs.left + from;
    uint right;
    right = runs.right + diagonal - from;
    __global uint* left_from = column32_from(push->left_keys, left);
    __global uint* right_from = column32_from(push->right_keys, right);
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        own->key.v[k] = 4294967295u;
        if (i < n) {
            own->key.v[k] = left_from[i];
        } else if (i < count) {
            own->key.v[k] = right_from[i - n];
        }
    }
    __global uint2* left_value = column64_from(push->left_payload, left);
    __global uint2* right_value = column64_from(push->right_payload, right);
    uint k_2 = 0u;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        uint i_2 = LOCAL_ID_X + k_2 * WORKGROUP;
        if (i_2 < n) {
            own->payload.v[k_2] = left_value[i_2];
        } else if (i_2 < count) {
            own->payload.v[k_2] = right_value[i_2 - n];
        }
    }
    put_striped(shared, own);
    merge_items(shared, own, 0u, n, WORKGROUP * ITEMS, LOCAL_ID_X * ITEMS);
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, own);
    __global uint* to_keys = column32_from(push->keys_out, begin);
    __global uint2* to_payload = column64_from(push->payload_out, begin);
    uint k_3 = 0u;
    UNROLL
    for (; k_3 < ITEMS; k_3 = k_3 + 1) {
        uint i_3 = LOCAL_ID_X + k_3 * WORKGROUP;
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
    Runs runs = runs_at(begin, push->left_rows, push->right_rows, push->run);
    uint diagonal = begin - runs.left;
    uint rest = runs.left_rows + runs.right_rows - diagonal;
    uint count = min(rest, WORKGROUP * ITEMS);
    uint from = column32_from(push->splits, tile)[0];
    uint end = runs.left_rows;
    if (rest > (WORKGROUP * ITEMS)) {
        end = column32_from(push->splits, tile + 1u)[0];
    }
    uint n = end - from;
    uint left;
    left = runs.left + from;
    uint right;
    right = runs.right + diagonal - from;
    __global uint2* left_from = column64_from(push->left_keys, left);
    __global uint2* right_from = column64_from(push->right_keys, right);
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        own->key.v[k] = (uint2)(4294967295u);
        if (i < n) {
            own->key.v[k] = left_from[i];
        } else if (i < count) {
            own->key.v[k] = right_from[i - n];
        }
    }
    put_striped(shared, own);
    merge_items(shared, own, 0u, n, WORKGROUP * ITEMS, LOCAL_ID_X * ITEMS);
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, own);
    __global uint2* to_keys = column64_from(push->keys_out, begin);
    uint k_2 = 0u;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        uint i_2 = LOCAL_ID_X + k_2 * WORKGROUP;
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
    Runs runs = runs_at(begin, push->left_rows, push->right_rows, push->run);
    uint diagonal = begin - runs.left;
    uint rest = runs.left_rows + runs.right_rows - diagonal;
    uint count = min(rest, WORKGROUP * ITEMS);
    uint from = column32_from(push->splits, tile)[0];
    uint end = runs.left_rows;
    if (rest > (WORKGROUP * ITEMS)) {
        end = column32_from(push->splits, tile + 1u)[0];
    }
    uint n = end - from;
    uint left;
    left = runs.left + from;
    uint right;
    right = runs.right + diagonal - from;
    __global uint2* left_from = column64_from(push->left_keys, left);
    __global uint2* right_from = column64_from(push->right_keys, right);
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        own->key.v[k] = (uint2)(4294967295u);
        if (i < n) {
            own->key.v[k] = left_from[i];
        } else if (i < count) {
            own->key.v[k] = right_from[i - n];
        }
    }
    __global uint* left_value = column32_from(push->left_payload, left);
    __global uint* right_value = column32_from(push->right_payload, right);
    uint k_2 = 0u;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        uint i_2 = LOCAL_ID_X + k_2 * WORKGROUP;
        if (i_2 < n) {
            own->payload.v[k_2] = left_value[i_2];
        } else if (i_2 < count) {
            own->payload.v[k_2] = right_value[i_2 - n];
        }
    }
    put_striped(shared, own);
    merge_items(shared, own, 0u, n, WORKGROUP * ITEMS, LOCAL_ID_X * ITEMS);
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, own);
    __global uint2* to_keys = column64_from(push->keys_out, begin);
    __global uint* to_payload = column32_from(push->payload_out, begin);
    uint k_3 = 0u;
    UNROLL
    for (; k_3 < ITEMS; k_3 = k_3 + 1) {
        uint i_3 = LOCAL_ID_X + k_3 * WORKGROUP;
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
    Runs runs = runs_at(begin, push->left_rows, push->right_rows, push->run);
    uint diagonal = begin - runs.left;
    uint rest = runs.left_rows + runs.right_rows - diagonal;
    uint count = min(rest, WORKGROUP * ITEMS);
    uint from = column32_from(push->splits, tile)[0];
    uint end = runs.left_rows;
    if (rest > (WORKGROUP * ITEMS)) {
        end = column32_from(push->splits, tile + 1u)[0];
    }
    uint n = end - from;
    uint left;
    left = runs.left + from;
    uint right;
    right = runs.right + diagonal - from;
    __global uint2* left_from = column64_from(push->left_keys, left);
    __global uint2* right_from = column64_from(push->right_keys, right);
    uint k = 0u;
    UNROLL
    for (; k < ITEMS; k = k + 1) {
        uint i = LOCAL_ID_X + k * WORKGROUP;
        own->key.v[k] = (uint2)(4294967295u);
        if (i < n) {
            own->key.v[k] = left_from[i];
        } else if (i < count) {
            own->key.v[k] = right_from[i - n];
        }
    }
    __global uint2* left_value = column64_from(push->left_payload, left);
    __global uint2* right_value = column64_from(push->right_payload, right);
    uint k_2 = 0u;
    UNROLL
    for (; k_2 < ITEMS; k_2 = k_2 + 1) {
        uint i_2 = LOCAL_ID_X + k_2 * WORKGROUP;
        if (i_2 < n) {
            own->payload.v[k_2] = left_value[i_2];
        } else if (i_2 < count) {
            own->payload.v[k_2] = right_value[i_2 - n];
        }
    }
    put_striped(shared, own);
    merge_items(shared, own, 0u, n, WORKGROUP * ITEMS, LOCAL_ID_X * ITEMS);
    barrier(CLK_LOCAL_MEM_FENCE);
    put_blocked(shared, own);
    __global uint2* to_keys = column64_from(push->keys_out, begin);
    __global uint2* to_payload = column64_from(push->payload_out, begin);
    uint k_3 = 0u;
    UNROLL
    for (; k_3 < ITEMS; k_3 = k_3 + 1) {
        uint i_3 = LOCAL_ID_X + k_3 * WORKGROUP;
        if (i_3 < count) {
            to_keys[i_3] = shared->sh_key.v[i_3];
            to_payload[i_3] = shared->sh_payload.v[i_3];
        }
    }
}

#endif

#if SERIAL == 0
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
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void merge_tiles(__global uchar* left_keys, __global uchar* right_keys, __global uchar* left_payload, __global uchar* right_payload, __global uchar* splits, __global uchar* keys_out, __global uchar* payload_out, const Words words) {
    __local Shared local_memory;
    __local Shared* shared = &local_memory;
    Own variables;
    Own* own = &variables;
    const Push addresses = {
        as_uint2((ulong)left_keys + words.left_keys),
        as_uint2((ulong)right_keys + words.right_keys),
        as_uint2((ulong)left_payload + words.left_payload),
        as_uint2((ulong)right_payload + words.right_payload),
        as_uint2((ulong)splits + words.splits),
        as_uint2((ulong)keys_out + words.keys_out),
        as_uint2((ulong)payload_out + words.payload_out),
        words.left_rows,
        words.right_rows,
        words.run,
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
    uint left_all = push->left_rows;
    uint right_all = push->right_rows;
    uint run_rows = push->run;
    uint begin = tile * ITEMS;
    uint variable;
    if (push->run == 0u) {
        variable = push->left_rows + push->right_rows;
    } else {
        variable = push->left_rows;
    }
    uint count = rows_left(variable, begin, ITEMS);
    __global uint2* to_keys = column64_from(push->keys_out, begin);
    __global uint2* to_payload = column64_from(push->payload_out, begin);
    Runs runs = runs_at(begin, left_all, right_all, run_rows);
    uint diagonal = begin - runs.left;
    uint from_left = 0u;
    if (diagonal > 0u) {
        from_left = column32_from(push->splits, tile)[0];
    }
    Side left;
    left = (Side){push->left_keys, push->left_payload, runs.left + from_left, runs.left_rows - from_left, (uint2)(0u)};
    Side right;
    right = (Side){push->right_keys, push->right_payload, runs.right + diagonal - from_left, runs.right_rows - (diagonal - from_left), (uint2)(0u)};
    left.key = key_of(left.keys, left.at, left.rows);
    right.key = key_of(right.keys, right.at, right.rows);
    uint i = 0u;
    uint variable_2;
    uint variable_3;
    uint2 variable_4;
    uint2 variable_5;
    uint2 variable_6;
    for (; i < count; i = i + 1) {
        if (left.rows == 0u && right.rows == 0u) {
            runs = runs_at(begin + i, left_all, right_all, run_rows);
            left.at = runs.left;
            left.rows = runs.left_rows;
            right.at = runs.right;
            right.rows = runs.right_rows;
            left.key = key_of(left.keys, left.at, left.rows);
            right.key = key_of(right.keys, right.at, right.rows);
        }
        bool is_left = (right.rows == 0u) || (left.rows > 0u && !less(right.key, left.key));
        if (is_left) {
            variable_2 = left.at;
        } else {
            variable_2 = right.at;
        }
        uint at = variable_2;
        if (is_left) {
            variable_3 = left.rows;
        } else {
            variable_3 = right.rows;
        }
        uint rows = variable_3 - 1u;
        __global uint2* value = to_keys;
        uint value_2 = i;
        if (is_left) {
            variable_4 = left.key;
        } else {
            variable_4 = right.key;
        }
        value[value_2] = variable_4;
        __global uint2* value_3 = to_payload;
        uint value_4 = i;
        if (is_left) {
            variable_5 = left.payload;
        } else {
            variable_5 = right.payload;
        }
        value_3[value_4] = column64_from(variable_5, at)[0];
        at = at + 1;
        if (is_left) {
            variable_6 = left.keys;
        } else {
            variable_6 = right.keys;
        }
        uint2 next = key_of(variable_6, at, rows);
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
} Words;

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1)))
void merge_tiles(__global uchar* left_keys, __global uchar* right_keys, __global uchar* left_payload, __global uchar* right_payload, __global uchar* splits, __global uchar* keys_out, __global uchar* payload_out, const Words words) {
    const Push addresses = {
        as_uint2((ulong)left_keys + words.left_keys),
        as_uint2((ulong)right_keys + words.right_keys),
        as_uint2((ulong)left_payload + words.left_payload),
        as_uint2((ulong)right_payload + words.right_payload),
        as_uint2((ulong)splits + words.splits),
        as_uint2((ulong)keys_out + words.keys_out),
        as_uint2((ulong)payload_out + words.payload_out),
        words.left_rows,
        words.right_rows,
        words.run,
        words.tiles,
        words.first_group,
        words.end_group,
    };
    const Push* push = &addresses;
    run(push);
}

#endif
