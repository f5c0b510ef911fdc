package exec

import "slices"

// lender is the owner of host memory that it gives back when others wait for it.
type lender struct{ giveBack func(sizeBytes uint64) }

// Lend registers the owner of a grant that holds host memory only while no query waits for it ([Grant.Borrow]). A query
// that has to wait calls giveBack first, from its own goroutine and while it holds no lock of the budget: giveBack
// shrinks the grant by about sizeBytes, or by what it has. It may be called by several at a time, and must not wait for
// memory. The caller calls end before it releases the grant.
func (b *Budget) Lend(giveBack func(sizeBytes uint64)) (end func()) {
	l := &lender{giveBack}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lenders = append(b.lenders, l)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.lenders = slices.DeleteFunc(b.lenders, func(other *lender) bool { return other == l })
	}
}

// recall has lenders give memory back until everybody in line can be served, or there is no more of it.
func (b *Budget) recall() {
	b.mu.Lock()
	lenders := slices.Clone(b.lenders)
	b.mu.Unlock()
	for _, l := range lenders {
		short := b.short()
		if short == 0 {
			return
		}
		l.giveBack(short)
	}
}

// short is the host memory that those in line lack together.
func (b *Budget) short() (sizeBytes uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	free := b.free[hostTotal]
	for _, c := range b.line {
		need := b.cost(c.need)[hostTotal]
		need -= min(need, c.grant.has[hostTotal])
		sizeBytes, free = sizeBytes+need-min(need, free), free-min(need, free)
	}
	return sizeBytes
}

// Borrow adds up to sizeBytes of host memory that is free and that no query waits for, and returns how much it added.
// It never waits. The owner gives it back when it is asked to ([Budget.Lend]).
func (g *Grant) Borrow(sizeBytes uint64) (byBytes uint64) {
	g.budget.mu.Lock()
	if len(g.budget.line) == 0 {
		byBytes = min(sizeBytes, g.budget.free[hostTotal])
		if g.grow(amounts{hostTotal: byBytes}) != nil { // it was released
			byBytes = 0
		}
	}
	g.budget.mu.Unlock()
	if byBytes > 0 {
		g.budget.bound()
	}
	return byBytes
}
