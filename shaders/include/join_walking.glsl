// The output of joins on devices that run invocations on CPU cores: each invocation takes WALKED neighbouring right
// rows and no row waits for what its neighbours write, so that all loops of an invocation take 2 * WALKED * (stops + 1)
// trips for a batch at most. Columns are read from the push constants once, which lavapipe reads as slowly as memory.
// A kernel with this file has the constants and push constants named below, defines PAGED (1: output in pages,
// join_pages.glsl), and before how the left rows that may match a right row are walked through:
uint first_stop(Key key, inout uint cursor);        // the first of them; 0: there is none. cursor, 0 before, goes from row to row
bool matches_at(Key key, uint stop, out uint next); // whether it has the key, and the one after it
uint left_row(uint stop);                           // its row, counted from left_first

#include "join_rows.glsl"

struct Columns { uvec2 keys, left, right, left_2, right_2; };

void put_row(Columns columns, uint start, uint to, Key key, Payloads left, Payloads right) {
    put_key(columns.keys, start, to, key);
    put(columns.left, left_words, start, to, left.of[0]);
    put(columns.right, right_words, start, to, right.of[0]);
    if (left_words_2 > 0u) put(columns.left_2, left_words_2, start, to, left.of[1]);
    if (right_words_2 > 0u) put(columns.right_2, right_words_2, start, to, right.of[1]);
}

// workgroup_sum in few steps also where a workgroup has many subgroups.
uint sum_before(uint own, out uint all) {
    if (subgroupElect()) sh_subgroup_sum[gl_SubgroupID] = own;
    barrier();
    uint some = 0u, before = 0u;
    for (uint s = gl_SubgroupInvocationID; s < gl_NumSubgroups; s += gl_SubgroupSize) {
        some += sh_subgroup_sum[s];
        if (s < gl_SubgroupID) before += sh_subgroup_sum[s];
    }
    all = subgroup_sum(some);
    return subgroup_sum(before);
}

#define WALKED 8u // right rows of an invocation; what it keeps of them is in registers, which takes straight code
#define EACH_WALKED(DO) DO(0u) DO(1u) DO(2u) DO(3u) DO(4u) DO(5u) DO(6u) DO(7u)

#if PAGED
#define NEXT_ROW page_row()
#else
#define NEXT_ROW at++
#endif

#define WALK_AND_COUNT(k)                                                                        \
    match[k] = 0u;                                                                               \
    if (run + k < count) {                                                                       \
        key[k] = right.at[run + k];                                                              \
        uint rows = 0u;                                                                          \
        for (uint stop = first_stop(key[k], cursor); stop > 0u; stop = next) {                   \
            if (matches_at(key[k], stop, next)) {                                                \
                if (rows == 0u) match[k] = stop;                                                 \
                ++rows;                                                                          \
                if (unique == 1u) next = 0u;                                                     \
            }                                                                                    \
        }                                                                                        \
        own += rows;                                                                             \
        if (rows > 1u) match[k] |= has_more;                                                     \
    }

#define WALK_AND_WRITE(k)                                                                        \
    found = true;                                                                                \
    for (uint stop = match[k] & ~has_more; stop > 0u;) {                                         \
        if (found) {                                                                             \
            uint to = NEXT_ROW;                                                                  \
            if (PAGED == 0 || to < room) {                                                       \
                put_row(columns, start, to, key[k],                                              \
                        payloads_of(left_1, left_2, left_sizes, left_first, left_row(stop)),     \
                        payloads_of(right_1, right_2, right_sizes, first, run + k));              \
            }                                                                                    \
        }                                                                                        \
        if (match[k] < has_more) break;                                                          \
        matches_at(key[k], stop, next);                                                          \
        stop = next;                                                                             \
        if (stop > 0u) found = matches_at(key[k], stop, next);                                   \
    }

// Joins count right rows, at most WALKED * workgroup, from first on; the unit has done output rows before.
void walk_batch(uint unit, uint left_first, uint first, uint count, inout uint done) {
    COLUMN(KEY_BITS) right = COLUMN_FROM(KEY_BITS)(right_keys, first);
    uint run = ORDER * WALKED, own = 0u, cursor = 0u, next;
    uint match[WALKED];
    Key key[WALKED];
    EACH_WALKED(WALK_AND_COUNT)
    uint all, at = subgroup_sum_before(own);
    at += sum_before(subgroup_sum(own), all);
    if (all > 0u) {
        if (INVOCATION == 0u) place(unit, done, all);
        barrier();
        uint room = sh_room, start = sh_start;
        uvec2 left_sizes = uvec2(left_words, left_words_2), right_sizes = uvec2(right_words, right_words_2);
        uvec2 left_1 = left_payload, left_2 = left_payload_2, right_1 = right_payload, right_2 = right_payload_2;
        Columns columns = Columns(keys_out, left_out, right_out, left_out_2, right_out_2);
        bool found;
        if (PAGED == 1 || room == all) { // otherwise there is none
            EACH_WALKED(WALK_AND_WRITE)
        }
    }
    done += all;
}

// Joins all right rows of a unit with its left rows.
void walk_unit(uint unit, uint left_first, uint right_first, uint right_count) {
    uint done = 0u;
    for (uint first = 0u; first < right_count; first += WALKED * WORKGROUP_SIZE) {
        walk_batch(unit, left_first, right_first + first, min(right_count - first, WALKED * WORKGROUP_SIZE), done);
        barrier();
    }
    count_rows(done);
}
