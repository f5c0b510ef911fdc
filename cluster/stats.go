package cluster

import "sync/atomic"

// Traffic is what one rank has sent to another. Rounds of agreement and the ends of streams do not count.
type Traffic struct {
	Messages int64
	Bytes    int64 // of heads and bodies
}

// Stats is what a rank has sent.
type Stats struct {
	To []Traffic // by receiving rank
}

// Total is what the rank has sent to all others.
func (s Stats) Total() (sum Traffic) {
	for _, t := range s.To {
		sum.Messages += t.Messages
		sum.Bytes += t.Bytes
	}
	return sum
}

// Counters count what a rank sends. For transports. Safe for concurrent use.
type Counters struct {
	to []struct{ messages, bytes atomic.Int64 }
}

// NewCounters returns counters of a rank of a job of this size.
func NewCounters(size int) *Counters {
	return &Counters{make([]struct{ messages, bytes atomic.Int64 }, size)}
}

// Count adds a message.
func (c *Counters) Count(to int, head []byte, body [][]byte) {
	bytes := int64(len(head))
	for _, b := range body {
		bytes += int64(len(b))
	}
	c.to[to].messages.Add(1)
	c.to[to].bytes.Add(bytes)
}

// Stats returns the counts.
func (c *Counters) Stats() Stats {
	s := Stats{To: make([]Traffic, len(c.to))}
	for rank := range c.to {
		t := &c.to[rank]
		s.To[rank] = Traffic{t.messages.Load(), t.bytes.Load()}
	}
	return s
}
