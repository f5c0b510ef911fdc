// Generated from the catalogue of package kernel by go generate; do not edit.
layout(local_size_x = WORKGROUP, local_size_x_id = 0) in;
layout(constant_id = 1) const uint items = ITEMS;
layout(constant_id = 2) const uint table = TABLE;
layout(constant_id = 3) const uint placing = PLACING;
layout(constant_id = 4) const uint left_words = LEFT_WORDS;
layout(constant_id = 5) const uint right_words = RIGHT_WORDS;
layout(constant_id = 6) const uint left_words_2 = LEFT_WORDS_2;
layout(constant_id = 7) const uint right_words_2 = RIGHT_WORDS_2;
layout(push_constant) uniform Push {
    uvec2 units;
    uvec2 left_keys;
    uvec2 right_keys;
    uvec2 left_payload;
    uvec2 right_payload;
    uvec2 left_payload_2;
    uvec2 right_payload_2;
    uvec2 places;
    uvec2 keys_out;
    uvec2 left_out;
    uvec2 right_out;
    uvec2 left_out_2;
    uvec2 right_out_2;
    uint first_row;
    uint out_rows;
    uint first_group;
    uint end_group;
};
