package runs

// The kernels for two, three and four runs keep the heads in registers and choose among them without branches: on
// random keys a branch would be predicted wrongly every other row. Each merges until a block or the output ends and
// returns how many rows it took from each. Keys that are equal are taken from the first block that has one.

func merge2[K, V Word](out, a, b Block[K, V]) (i, j int) {
	keys, rows := out.Keys, out.Rows[:len(out.Keys)]
	aKeys, aRows := a.Keys, a.Rows[:len(a.Keys)]
	bKeys, bRows := b.Keys, b.Rows[:len(b.Keys)]
	at := 0
	for uint(i) < uint(len(aKeys)) && uint(j) < uint(len(bKeys)) && uint(at) < uint(len(keys)) {
		key, row := aKeys[i], aRows[i]
		other, otherRow := bKeys[j], bRows[j]
		second := 0
		if other < key {
			second = 1
		}
		if other < key {
			row = otherRow
		}
		if other < key {
			key = other
		}
		keys[at], rows[at] = key, row
		at++
		j += second
		i += 1 - second
	}
	return i, j
}

func merge3[K, V Word](out, a, b, c Block[K, V]) (i, j, l int) {
	keys, rows := out.Keys, out.Rows[:len(out.Keys)]
	aKeys, aRows := a.Keys, a.Rows[:len(a.Keys)]
	bKeys, bRows := b.Keys, b.Rows[:len(b.Keys)]
	cKeys, cRows := c.Keys, c.Rows[:len(c.Keys)]
	at := 0
	for uint(i) < uint(len(aKeys)) && uint(j) < uint(len(bKeys)) && uint(l) < uint(len(cKeys)) &&
		uint(at) < uint(len(keys)) {
		key, row := aKeys[i], aRows[i]
		other, otherRow := bKeys[j], bRows[j]
		last, lastRow := cKeys[l], cRows[l]
		second, third := 0, 0
		if other < key {
			second = 1
		}
		if other < key {
			row = otherRow
		}
		if other < key {
			key = other
		}
		if last < key {
			third = 1
		}
		if last < key {
			row = lastRow
		}
		if last < key {
			key = last
		}
		keys[at], rows[at] = key, row
		at++
		second &= 1 - third
		l += third
		j += second
		i += 1 - third - second
	}
	return i, j, l
}

func merge4[K, V Word](out, a, b, c, d Block[K, V]) (i, j, l, m int) {
	keys, rows := out.Keys, out.Rows[:len(out.Keys)]
	aKeys, aRows := a.Keys, a.Rows[:len(a.Keys)]
	bKeys, bRows := b.Keys, b.Rows[:len(b.Keys)]
	cKeys, cRows := c.Keys, c.Rows[:len(c.Keys)]
	dKeys, dRows := d.Keys, d.Rows[:len(d.Keys)]
	at := 0
	for uint(i) < uint(len(aKeys)) && uint(j) < uint(len(bKeys)) && uint(l) < uint(len(cKeys)) &&
		uint(m) < uint(len(dKeys)) && uint(at) < uint(len(keys)) {
		key, row := aKeys[i], aRows[i]
		other, otherRow := bKeys[j], bRows[j]
		left, right := 0, 0 // the second of its pair is less
		if other < key {
			left = 1
		}
		if other < key {
			row = otherRow
		}
		if other < key {
			key = other
		}
		later, laterRow := cKeys[l], cRows[l]
		other, otherRow = dKeys[m], dRows[m]
		if other < later {
			right = 1
		}
		if other < later {
			laterRow = otherRow
		}
		if other < later {
			later = other
		}
		pair := 0 // the second pair has the least key
		if later < key {
			pair = 1
		}
		if later < key {
			row = laterRow
		}
		if later < key {
			key = later
		}
		keys[at], rows[at] = key, row
		at++
		j += left &^ pair
		i += 1 - pair - left&^pair
		m += right & pair
		l += pair - right&pair
	}
	return i, j, l, m
}
