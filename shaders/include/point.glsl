// The place of a point in the targets of a draw; include it after the declarations of the draw.

// Puts the point of this vertex on the centre of a pixel. Outside of the targets nothing is drawn.
void draw_at(uvec2 pixel) {
    gl_Position = vec4((vec2(pixel) + 0.5) * 2.0 / vec2(target_width, target_height) - 1.0, 0.0, 1.0);
    gl_PointSize = 1.0;
}

// The same for a pixel that is counted row by row.
void draw_at(uint pixel) { draw_at(uvec2(pixel % target_width, pixel / target_width)); }

// Puts the point of this vertex outside of the targets, where nothing is drawn.
void draw_nowhere() {
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    gl_PointSize = 1.0;
}
