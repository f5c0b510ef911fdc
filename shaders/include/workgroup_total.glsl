// workgroup_total adds up what the invocations of a workgroup hold, through shared memory alone. Every invocation calls
// it, once.
shared uint sh_total[2];

uvec2 workgroup_total(uvec2 own) {
    if (INVOCATION == 0u) sh_total[0] = sh_total[1] = 0u;
    barrier();
    uint carry, before = atomicAdd(sh_total[0], own.x);
    uaddCarry(before, own.x, carry);
    if (own.y + carry > 0u) atomicAdd(sh_total[1], own.y + carry);
    barrier();
    return uvec2(sh_total[0], sh_total[1]);
}
