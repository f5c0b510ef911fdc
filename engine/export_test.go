package engine

import "github.com/spirjoin/spirjoin/query"

// Able is able, for tests.
func (e *Engine) Able() (*Engine, error) {
	able, _, err := e.able()
	return able, err
}

// Query is the query of a join that is one task; nil for others.
func (r *Result) Query() *query.Query {
	if of, ok := r.of.(one); ok {
		return of.Result.Query
	}
	return nil
}
