// Scans over a workgroup through shared memory alone, in log2(workgroup) steps, for devices without subgroup
// operations.

// What a scan keeps in shared memory, element at: a kernel whose scan has an array of its own says so by this. Others
// define both functions, for 2*WORKGROUP_SIZE elements.
#define DEFINE_SCANNED(Type, elements)                              \
    shared Type sh_scanned[elements];                               \
    void put_scanned(uint at, Type value) { sh_scanned[at] = value; } \
    Type scanned(uint at) { return sh_scanned[at]; }

// workgroup_scan combines what the invocations before this one hold, in their order, which is nothing for the first
// one, and in all what all of them hold. combine is associative. Every invocation of the workgroup calls it; a barrier
// lies between it and any other access to what it keeps.
#define DEFINE_WORKGROUP_SCAN(Type, combine, nothing)                                              \
    Type workgroup_scan(Type own, out Type all) {                                                  \
        uint side = 0u; /* written last, of two */                                                 \
        put_scanned(INVOCATION, own);                                                              \
        barrier();                                                                                 \
        for (uint step = 1u; step < WORKGROUP_SIZE; step *= 2u) {                                  \
            if (INVOCATION >= step) own = combine(scanned(side + INVOCATION - step), own);         \
            side = WORKGROUP_SIZE - side;                                                          \
            put_scanned(side + INVOCATION, own);                                                   \
            barrier();                                                                             \
        }                                                                                          \
        all = scanned(side + WORKGROUP_SIZE - 1u);                                                 \
        if (INVOCATION == 0u) return nothing;                                                      \
        return scanned(side + INVOCATION - 1u);                                                    \
    }
