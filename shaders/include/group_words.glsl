// The states of groups that vertices update, word by word; include it after the declarations of a draw.

// Word 0 is the lowest one of a state.
Column32 word_of(uint group, uint word) {
    return column32_from(element_address(word < 2u ? state : state_2, group, 3u), word & 1u);
}
