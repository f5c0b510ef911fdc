package engine

// Knobs force what plans otherwise choose, for measurements and tests, beside the knobs of divisions ([task.Knobs]) and
// of the engine of each device ([query.Knobs]). Zero values leave the choice to the plans.
type Knobs struct {
	Together  bool // all devices take part in every stream that several can join
	Scatter   bool // rows meet by their keys on all devices ([query.Spec])
	Guess     bool // joins of tables of any size begin by key ranges that are guessed
	Undivided bool // plans refuse tables that the device is too small for, instead of dividing both
}
