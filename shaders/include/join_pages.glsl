// Output in pages (RT 3.2.2): an invocation takes page_rows rows at a time and fills them before it takes the next
// ones.
const uint bitmap_word = 64u; // where the bitmap of all rows begins in places

uint page_next = 0u, page_end = 0u; // the free rows of this invocation's page, relative to first_row

// Takes a page of output rows, one behind the end where there are no more.
void take_page() {
    Cursor cursor = Cursor(places);
    page_next = out_rows;
    // What is taken passes out_rows only by what invocations take at the same time: far less than 2^31.
    if (atomicAdd(cursor.at[0], 0u) <= out_rows) page_next = min(out_rows, atomicAdd(cursor.at[0], page_rows));
    page_end = page_next + page_rows;
}

// The row of a page that an invocation fills.
uint page_row() {
    if (page_next == page_end) take_page();
    return page_next++;
}

// Marks the rows of the last page that stay empty.
void leave_page() {
    for (uint row = first_row + page_next; row < first_row + min(page_end, out_rows); ++row) {
        atomicAnd(Cursor(places).at[bitmap_word + row / 32u], ~(1u << row % 32u));
    }
}

// Output rows have all the room there is.
void place(uint unit, uint done, uint n) {
    sh_start = first_row;
    sh_room = out_rows;
}
