package hash

import "github.com/spirjoin/spirjoin/operator"

func (a Partitioned) cost(*operator.Plan, *shape) error { return nil }
