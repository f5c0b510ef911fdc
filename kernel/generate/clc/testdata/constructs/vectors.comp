// Vectors: components, comparisons, any and all, conditions by component, indexes that are known late.
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Threes { uvec3 at[]; };
bool equal_words(uvec3 a, uvec3 b) { return a == b; }
void main() {
    uvec4 v = uvec4(VALUE(0u), VALUE(1u), VALUE(2u), VALUE(3u));
    uvec2 a = v.xy, b = v.wz;
    RESULT(0u) = a.x ^ b.y;
    RESULT(1u) = uint(a == b) + 2u * uint(a != b) + 4u * uint(any(lessThan(a, b))) + 8u * uint(all(greaterThanEqual(a, b)));
    RESULT(2u) = uint(all(not(equal(a, uvec2(0u))))) + 2u * uint(equal_words(v.xyz, v.zyx));
    v[v.x & 3u] += 7u;
    RESULT(3u) = v[v.y & 3u];
    v.xz = v.zx + 1u;
    RESULT(4u) = v.x * 3u + v.z;
    v.yw *= uvec2(2u, 3u);
    RESULT(5u) = v.y ^ v.w;
    uvec4 w = v << 2u | v.wzyx >> 3u;
    RESULT(6u) = w.x + w.y + w.z + w.w;
    uvec2 m = mix(a, b, lessThan(a, b));
    RESULT(7u) = m.x - m.y;
    bvec2 c = bvec2(a.x > 3u, b.y > 3u);
    RESULT(8u) = uint(c.x) + 2u * uint(c.y) + 4u * uint(any(c));
    uvec4 n = ~v & uvec4(0xffu, v.yzw);
    RESULT(9u) = n.x ^ n.y ^ n.z ^ n.w;
    uvec3 t = uvec3(a, 5u) / (uvec3(b, 2u) | 1u);
    RESULT(10u) = t.x + t.y * 3u + t.z * 5u;
    ivec2 i = ivec2(a) - ivec2(b) * 2;
    uvec2 e = uvec2(0u);
    e.y = a.x;
    e.x += e.y;
    RESULT(11u) = uint(i.x ^ i.y) + (e.x ^ e.y) + min(v, w).x + max(v.xy, w.yx).y + min(v, 9u).z;
    // Vectors of three words lie four words apart; the fourth stays as it is.
    RESULT(15u) = 5u;
    Threes threes = Threes(results);
    threes.at[4u * ROW + 3u] = uvec3(a, 3u) * v.zyx;
    threes.at[4u * ROW + 3u].yz ^= t.xy;
    threes.at[4u * ROW + 3u] += threes.at[4u * ROW + 3u].zxy;
}
