// workgroup_reduce combines what the invocations of a workgroup hold, of any number and in any subgroups; invocation 0 gets the
// result, the others nonsense. Every invocation of the workgroup calls it; a barrier lies between two calls.
#define DEFINE_WORKGROUP_REDUCE(Type, combine)                                                      \
    shared Type sh_partial[WORKGROUP_SIZE];                                                         \
    Type workgroup_reduce(Type own) {                                                               \
        sh_partial[INVOCATION] = own;                                                               \
        for (uint left = WORKGROUP_SIZE; left > 1u;) {                                              \
            uint kept = (left + 1u) / 2u;                                                           \
            barrier();                                                                              \
            if (INVOCATION + kept < left) {                                                         \
                own = combine(own, sh_partial[INVOCATION + kept]);                                  \
                sh_partial[INVOCATION] = own;                                                       \
            }                                                                                       \
            left = kept;                                                                            \
        }                                                                                           \
        return own;                                                                                 \
    }
