package shuffle

import (
	"sync"
	"time"
)

// link measures how fast this rank sends. A message that the receiver leaves waiting takes longer than its link, so the
// fastest of the last ones counts. Messages that are under way at once share the link, so the rate of one is multiplied
// by their mean number while it was.
type link struct {
	mu     sync.Mutex
	active int       // messages under way
	since  time.Time // of this number
	summed float64   // message-seconds until then
	rates  [32]float64
	next   int // of rates
}

// measuredBytes is the size from which on the rate of a message is not that of its latency.
const measuredBytes = 64 << 10

// begin notes that a message is sent, and returns the message-seconds before it.
func (l *link) begin(now time.Time) (before float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.change(now, 1)
	return l.summed
}

// end notes that a message was sent.
func (l *link) end(begun time.Time, before float64, now time.Time, sizeBytes uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.change(now, -1)
	if seconds := now.Sub(begun).Seconds(); sizeBytes >= measuredBytes && seconds > 0 {
		l.rates[l.next] = float64(sizeBytes) / seconds * (l.summed - before) / seconds
		l.next = (l.next + 1) % len(l.rates)
	}
}

// change adds to the number of messages under way. l.mu is held.
func (l *link) change(now time.Time, by int) {
	l.summed += float64(l.active) * now.Sub(l.since).Seconds()
	l.active, l.since = l.active+by, now
}

// bytesPerSecond is what this rank sends to all others together; 0 before it has sent enough.
func (l *link) bytesPerSecond() (most float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, rate := range l.rates {
		most = max(most, rate)
	}
	return most
}
