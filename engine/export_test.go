package engine

import "github.com/spirjoin/spirjoin/query"

// Able is able, for tests.
func (e *Engine) Able() (*Engine, error) {
	able, _, err := e.able()
	return able, err
}

// Query is the query that is under way; nil if there is none.
func (r *Result) Query() *query.Query {
	if tasks := r.Tasks(); tasks != nil {
		return tasks.UnderWay().(*Result).Query()
	}
	if of, ok := r.of.(one); ok {
		return of.Result.Query
	}
	return nil
}
