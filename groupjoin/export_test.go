package groupjoin

// Product is product, for tests.
var Product = product

// ExplainError is explain, for tests.
func (l *Layout) ExplainError(err error) error { return l.explain(err) }
