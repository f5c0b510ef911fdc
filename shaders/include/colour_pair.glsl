// Writes the row numbers of a pair.
layout(location = 0) flat in uvec2 pair;
layout(location = 0) out uvec2 rows;

void main() { rows = pair; }
