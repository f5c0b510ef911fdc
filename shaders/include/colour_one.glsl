// Adds one to the pixel of a point.
layout(location = 0) out float count;

void main() { count = 1.0; }
