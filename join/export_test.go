package join

// Able is able, for tests.
func (e *Engine) Able() (*Engine, error) {
	able, _, err := e.able()
	return able, err
}
