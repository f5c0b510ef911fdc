// Shared memory and barriers: a scan over the workgroup, and words that invocations exchange.
const uint size = gl_WorkGroupSize.x * 2u;
shared uint sh_sum[size];
shared uvec2 sh_pair[gl_WorkGroupSize.x];
shared uint sh_most, sh_count[items];

uint scanned(uint own) {
    uint side = 0u;
    sh_sum[LOCAL] = own;
    barrier();
    for (uint step = 1u; step < gl_WorkGroupSize.x; step *= 2u) {
        if (LOCAL >= step) own += sh_sum[side + LOCAL - step];
        side = gl_WorkGroupSize.x - side;
        sh_sum[side + LOCAL] = own;
        barrier();
    }
    return own;
}

void main() {
    if (LOCAL == 0u) sh_most = 0u;
    for (uint i = LOCAL; i < items; i += gl_WorkGroupSize.x) sh_count[i] = 0u;
    sh_pair[LOCAL] = uvec2(VALUE(0u), LOCAL);
    uint own = scanned(VALUE(1u));
    atomicMax(sh_most, VALUE(0u));
    atomicAdd(sh_count[VALUE(2u) % items], 1u);
    barrier();
    RESULT(0u) = own;
    RESULT(1u) = sh_most;
    RESULT(2u) = sh_pair[gl_WorkGroupSize.x - 1u - LOCAL].x;
    RESULT(3u) = sh_count[LOCAL % items];
    barrier();
    sh_pair[LOCAL].y += sh_pair[LOCAL].x;
    sh_pair[LOCAL][VALUE(3u) & 1u] ^= 21u;
    barrier();
    RESULT(4u) = sh_pair[LOCAL ^ 1u].y + sh_pair[(LOCAL + 3u) % gl_WorkGroupSize.x].x;
    RESULT(5u) = size;
}
