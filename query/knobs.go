package query

import "github.com/spirjoin/spirjoin/relation/keys"

// Knobs force what plans otherwise choose, for measurements and tests. Zero values leave the choice to the plans.
type Knobs struct {
	GranuleRows uint64    // maximum probe rows joined at a time
	WindowRows  uint64    // maximum output rows made at a time
	Compare     Comparing // where hashed keys are hashed and compared
	Keys        KeyPlace  // where key codes are made
	Spread      bool      // several devices load every build side once, and pass it on over any links
	HashBits    *int      // low bits of hashes of keys that are kept, so that keys collide; nil: all
}

// Collide drops bits of the hashes of keys as HashBits says.
func (k *Knobs) Collide(keys *keys.Plan) {
	if k.HashBits != nil {
		keys.KeepHashBits(*k.HashBits)
	}
}
