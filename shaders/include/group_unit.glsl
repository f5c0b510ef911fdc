// Units of rows that are grouped by a workgroup.

struct Unit {
    uint first, rows, base; // base: the least of its codes
    bool whole;             // no other unit has its codes
};

// Unit number i; without units, a tile of tile_rows rows.
Unit unit_of(uvec2 units, uint i, uint rows, uint tile_rows) {
    if (absent(units)) return Unit(i * tile_rows, rows_left(rows, i * tile_rows, tile_rows), 0u, false);
    Column32 unit = column32_from(units, 4u * i);
    return Unit(unit.at[0], unit.at[1] - unit.at[0], unit.at[2], unit.at[3] == 1u);
}
