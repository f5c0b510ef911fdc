// Right rows that are looked up and make no output rows, a batch of workgroup*items at a time.
// A kernel with this file defines before how a key finds left rows and what becomes of a right row:
// The number of its matches, or what else looked_up takes for them; 0: none. cursor, 0 before, goes from row to row.
uint matches_of(Key key, inout uint cursor);
// Subgroups, or with SHARED the workgroup, call both of these whole:
void looked_up(uint k, uint matches); // of an invocation's k-th row of a batch; 0 matches behind the last row
void batch_looked_up(uint row);       // of a batch, in which row is the first of the subgroup, or of the workgroup

#extension GL_EXT_control_flow_attributes : require

const uint batch_rows = WORKGROUP_SIZE * items;

#if SHARED
#define FIRST_RUN 0u
#define RUN INVOCATION
#define STRIDE WORKGROUP_SIZE
#else
#define FIRST_RUN (gl_SubgroupID * gl_SubgroupSize * items) // a subgroup's first row of a batch
#define RUN (FIRST_RUN + gl_SubgroupInvocationID)           // an invocation's
#define STRIDE gl_SubgroupSize
#endif

// Loads keys of the batch of right rows from first on, of count in all.
void load_batch(COLUMN(KEY_BITS) right, uint first, uint count, inout Key key[items]) {
    [[unroll]] for (uint k = 0u; k < items; ++k) {
        uint row = first + RUN + k * STRIDE;
        if (row < count) key[k] = right.at[row];
    }
}

// Looks count right rows behind right_first up; key holds those of the first batch.
void look_up(COLUMN(KEY_BITS) right, uint right_first, uint count, Key key[items]) {
    uint cursor = 0u;
    for (uint first = 0u; first < count; first += batch_rows) {
        [[unroll]] for (uint k = 0u; k < items; ++k) {
            uint row = first + RUN + k * STRIDE, matches = 0u;
            if (row < count) matches = matches_of(key[k], cursor);
            looked_up(k, matches);
        }
        batch_looked_up(right_first + first + FIRST_RUN);
        load_batch(right, first + batch_rows, count, key);
    }
}
