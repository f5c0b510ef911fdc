// Merges in shared memory of a workgroup. A kernel with this file defines Key and, unless PAYLOAD_BITS is 0, Payload.
#include "search.glsl"

const uint tile_rows = WORKGROUP_SIZE * items;

shared Key sh_key[tile_rows + 1u]; // one more, because a merge looks one row ahead
Key key[items];                    // rows of this invocation
#if PAYLOAD_BITS
shared Payload sh_payload[tile_rows];
Payload payload[items];
#define WITH_PAYLOAD(statement) statement
#else
#define WITH_PAYLOAD(statement)
#endif

// Search 0 looks along a diagonal of a merge for the number of rows that come from the left run: row i of it, which starts at
// left_first, comes before row d - 1 - i of the right one, which is row right_last - i here.
uint left_first, right_last;

bool before(uint which, uint row) { return !less(sh_key[right_last - row], sh_key[left_first + row]); }

// Fetches rows diagonal to diagonal + items - 1 of the merge of rows [left, right) and [right, end) of shared memory, which has so
// many. Left rows come before equal right ones.
void merge_items(uint left, uint right, uint end, uint diagonal) {
    left_first = left;
    right_last = right + diagonal - 1u;
    uint right_rows = end - right;
    uint from_left = search(0u, diagonal > right_rows ? diagonal - right_rows : 0u, min(diagonal, right - left));
    uint a = left + from_left, b = right + diagonal - from_left;
    Key left_key = sh_key[a], right_key = sh_key[b];
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        bool is_left = b >= end || a < right && !less(right_key, left_key);
        uint at = is_left ? a : b;
        key[k] = is_left ? left_key : right_key;
        WITH_PAYLOAD(payload[k] = sh_payload[at];)
        Key next = sh_key[at + 1u];
        if (is_left) {
            a = at + 1u;
            left_key = next;
        } else {
            b = at + 1u;
            right_key = next;
        }
    }
}

// Rows between invocations: held one after the other (blocked), which is how they are merged, or a workgroup apart (striped),
// which is how they are loaded and stored. Every invocation calls these; a barrier stands before what they write over.
void put_blocked() {
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        sh_key[INVOCATION * items + k] = key[k];
        WITH_PAYLOAD(sh_payload[INVOCATION * items + k] = payload[k];)
    }
    barrier();
}

void put_striped() {
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        sh_key[INVOCATION + k * WORKGROUP_SIZE] = key[k];
        WITH_PAYLOAD(sh_payload[INVOCATION + k * WORKGROUP_SIZE] = payload[k];)
    }
    barrier();
}
