package join

// Knobs force what plans otherwise choose, for measurements and tests, beside [query.Knobs] of the engine of each
// device. Zero values leave the choice to the plans.
type Knobs struct {
	Together    bool        // all devices take part in every stream that several can join
	Scatter     bool        // rows meet by their keys on all devices ([query.Spec])
	Guess       bool        // joins of tables of any size begin by key ranges that are guessed
	DivideBytes uint64      // size of a build side beyond which a stream divides both sides; default half of the memory limit
	DivideOn    DividePlace // where both sides are divided
	Undivided   bool        // plans refuse tables that the device is too small for, instead of dividing both
	PartsBytes  uint64      // memory for parts, beyond which they are on disk; default half of the memory limit
}
