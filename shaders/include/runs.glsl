// The two runs that are merged into rows left and following of an output: rows [left, left + left_rows) and
// [right, right + right_rows) of their columns.
struct Runs { uint left, left_rows, right, right_rows; };

// The runs that an output row comes from: both whole columns where run is 0, otherwise run rows each of one column of left_rows
// rows, the last ones perhaps fewer.
Runs runs_at(uint row, uint left_rows, uint right_rows, uint run) {
    if (run == 0u) return Runs(0u, left_rows, 0u, right_rows);
    uint left = (row / run & ~1u) * run, rest = left_rows - left;
    uint n = min(run, rest);
    return Runs(left, n, left + n, min(run, rest - n));
}
