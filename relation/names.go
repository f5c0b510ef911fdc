package relation

import "strings"

// NearestName returns the name that the writer of want most likely meant: the one with the fewest edits (a character
// inserted, deleted or replaced; case is ignored). At most one edit is allowed for every three characters begun. It
// returns "" if no name is that close. Of several equally close names the first wins, but a name that differs in case
// and outer blanks only before all others.
func NearestName(want string, names []string) string {
	for _, name := range names {
		if strings.EqualFold(strings.TrimSpace(name), strings.TrimSpace(want)) {
			return name
		}
	}
	best, nearest := (len([]rune(want))+2)/3+1, ""
	for _, name := range names {
		if d := editDistance(strings.ToLower(want), strings.ToLower(name)); d < best {
			best, nearest = d, name
		}
	}
	return nearest
}

// editDistance is the Levenshtein distance, in characters.
func editDistance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range to {
			replace := diagonal
			if x != y {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
