package runs

import "math/bits"

// loserTree is a tournament of the heads of k runs: node n > 0 holds the head that lost there, and the children of n
// are nodes 2n and 2n+1; leaf k+i is run i. To replace the winner, only the nodes above its leaf are played again.
type loserTree[K Word] struct {
	nodes []head[K]
}

type head[K Word] struct {
	key K
	run uint64
}

// build plays the tournament and returns the winner.
func (t *loserTree[K]) build(heads []head[K]) head[K] {
	k := len(heads)
	if cap(t.nodes) < k {
		t.nodes = make([]head[K], k)
	}
	t.nodes = t.nodes[:k]
	winners := make([]head[K], 2*k)
	copy(winners[k:], heads)
	for n := k - 1; n > 0; n-- {
		a, b := winners[2*n], winners[2*n+1]
		if precedes(b, a) == 1 {
			a, b = b, a
		}
		winners[n], t.nodes[n] = a, b
	}
	return winners[1]
}

// precedes is 1 if a comes before b in the order of key and run: the borrow of a - b as numbers of 128 bits.
func precedes[K Word](a, b head[K]) uint64 {
	_, borrow := bits.Sub64(a.run, b.run, 0)
	_, borrow = bits.Sub64(uint64(a.key), uint64(b.key), borrow)
	return borrow
}

// mergeTree merges five or more cursors until a block of one or the output ends, and advances them. It returns how many
// rows it merged. Who wins a node is computed without branches.
func mergeTree[K, V Word](t *loserTree[K], out Block[K, V], in []cursor[K, V]) (merged int) {
	k := uint64(len(in))
	heads, at := make([]head[K], k), make([]int, k)
	for i := range in {
		heads[i] = head[K]{in[i].Keys[0], uint64(i)}
	}
	winner := t.build(heads)
	nodes := t.nodes
	keys, rows := out.Keys, out.Rows[:len(out.Keys)]
	for merged < len(keys) {
		c := &in[winner.run]
		i := at[winner.run]
		keys[merged], rows[merged] = winner.key, c.Rows[i]
		merged++
		i++
		at[winner.run] = i
		if i == len(c.Keys) {
			break
		}
		n := (winner.run + k) >> 1
		winner.key = c.Keys[i]
		for ; n > 0; n >>= 1 {
			node := &nodes[n]
			loser := *node
			mask := -precedes(loser, winner)
			key, run := (loser.key^winner.key)&K(mask), (loser.run^winner.run)&mask
			node.key, node.run = loser.key^key, loser.run^run
			winner.key, winner.run = winner.key^key, winner.run^run
		}
	}
	for i := range in {
		in[i].advance(at[i])
	}
	return merged
}
