package backend

import (
	"sync"
	"time"
)

// Profile collects the device time of the stages of command lists. Times of stages with the same name are added; stages
// are ordered by their first appearance. Safe for concurrent use; the zero Profile is empty and ready for use.
type Profile struct {
	mu     sync.Mutex
	stages []StageTime
}

// StageTime is the device time spent in the stage of that name.
type StageTime struct {
	Stage string
	Time  time.Duration
}

// Add adds time to a stage.
func (p *Profile) Add(stage string, d time.Duration) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.stages {
		if p.stages[i].Stage == stage {
			p.stages[i].Time += d
			return
		}
	}
	p.stages = append(p.stages, StageTime{stage, d})
}

// Stages returns a copy of the collected times.
func (p *Profile) Stages() []StageTime {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]StageTime(nil), p.stages...)
}
