package backend

import (
	"runtime"
	"sync"
	"time"
)

// kernelKey is a kernel in one configuration, as a comparable value of the caller's or as text.
type kernelKey struct {
	spec   *KernelSpec
	config any
}

// kernels are the kernels of a device, each of which is compiled once: ahead, by as many goroutines as there are cores
// ([Device.Prefetch]), or by its first caller. A caller that needs a kernel that is being compiled waits for that one;
// one that is still in the queue is compiled by the caller.
type kernels struct {
	ahead sync.WaitGroup // goroutines that compile ahead
	most  int            // of them

	mu      sync.Mutex                 // guards what follows
	closed  bool                       // nothing is compiled ahead any more
	workers int                        // goroutines that compile ahead
	queue   []kernelAhead              // that they have to do
	named   map[kernelKey]*compilation // by configuration as text
	ready   map[kernelKey]*Kernel      // those that were needed, by configuration as their callers give it
	running int
	stats   KernelStats
}

type kernelAhead struct {
	spec *KernelSpec
	full Config
}

// compilation is one kernel.
type compilation struct {
	begun, needed bool          // guarded by kernels.mu
	done          chan struct{} // closed when kernel and err are set
	kernel        *Kernel
	err           error
}

// KernelStats counts the kernels that a device has compiled since it was opened.
type KernelStats struct {
	Compiled int
	// Cached is how many of them the driver found in its cache of an earlier process, and Answered for how many it said
	// whether it did.
	Cached, Answered int
	Ahead            int           // that no caller needed at that moment ([Device.Prefetch])
	Unused           int           // of these, not needed since
	Pending          int           // being compiled, or to be compiled ahead
	AtOnce           int           // maximum number that were compiled at a time
	Time             time.Duration // sum of all
	Waited           time.Duration // of this, what those who needed a kernel waited for it, each by itself
}

// CachedProgram is a Program whose driver says whether it was in the cache of an earlier process. known is false if the
// driver does not say it.
type CachedProgram interface {
	Cached() (cached, known bool)
}

func newKernels() kernels {
	return kernels{most: runtime.GOMAXPROCS(0), named: make(map[kernelKey]*compilation),
		ready: make(map[kernelKey]*Kernel)}
}

// Kernel returns a kernel for a configuration, and compiles it at its first use.
func (d *Device) Kernel(spec *KernelSpec, config Config) (*Kernel, error) {
	full, err := spec.Complete(config)
	if err != nil {
		return nil, err
	}
	return d.KernelFor(spec, full.String(), func() Config { return full })
}

// KernelFor is [Device.Kernel] for a configuration that is a comparable value. named returns its settings by name, and
// is called only at its first use. Different kernels are compiled at the same time if several goroutines need them.
func (d *Device) KernelFor(spec *KernelSpec, config any, named func() Config) (*Kernel, error) {
	key := kernelKey{spec, config}
	if k, err := d.compiled(key); k != nil || err != nil {
		return k, err
	}
	full, err := spec.Complete(named())
	if err != nil {
		return nil, err
	}
	start := time.Now()
	k, err := d.compile(spec, full, false)
	if err != nil {
		return nil, d.NoteFailure(err)
	}
	s := &d.kernels
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Waited += time.Since(start)
	s.ready[key] = k
	return k, nil
}

// compiled returns a kernel that was needed before, or nil.
func (d *Device) compiled(key kernelKey) (*Kernel, error) {
	d.mu.Lock()
	failed := d.failed
	d.mu.Unlock()
	if failed != nil {
		return nil, failed
	}
	d.kernels.mu.Lock()
	defer d.kernels.mu.Unlock()
	return d.kernels.ready[key], nil
}

// Prefetch begins to compile a kernel that may be needed soon, and does not wait for it. If that fails, the caller that
// needs the kernel gets the error. After [Device.Close] it does nothing.
func (d *Device) Prefetch(spec *KernelSpec, config Config) {
	full, err := spec.Complete(config)
	if err != nil {
		return
	}
	s := &d.kernels
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.named[kernelKey{spec, full.String()}] != nil {
		return
	}
	s.compilationOf(spec, full)
	s.queue = append(s.queue, kernelAhead{spec, full})
	if s.workers < s.most {
		s.workers++
		s.ahead.Go(func() {
			for k, ok := s.next(); ok; k, ok = s.next() {
				_, _ = d.compile(k.spec, k.full, true)
			}
		})
	}
}

// next takes a kernel from the queue, in order. ok is false if the queue is empty or closed; the goroutine then ends.
func (s *kernels) next() (k kernelAhead, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 || s.closed {
		s.workers--
		return k, false
	}
	k = s.queue[0]
	s.queue = s.queue[1:]
	return k, true
}

// compilationOf returns the compilation of a kernel, perhaps a new one.
func (s *kernels) compilationOf(spec *KernelSpec, full Config) *compilation {
	key := kernelKey{spec, full.String()}
	c := s.named[key]
	if c == nil {
		c = &compilation{done: make(chan struct{})}
		s.named[key] = c
	}
	return c
}

// compile returns a kernel in a complete configuration. It compiles it unless that was done, or is being done, which it
// waits for. A kernel that failed is compiled again for its next caller.
func (d *Device) compile(spec *KernelSpec, full Config, ahead bool) (*Kernel, error) {
	s := &d.kernels
	s.mu.Lock()
	c := s.compilationOf(spec, full)
	begun := c.begun
	if c.begun = true; !begun {
		s.running++
		s.stats.AtOnce = max(s.stats.AtOnce, s.running)
	}
	s.mu.Unlock()
	if begun {
		<-c.done
	} else {
		start := time.Now()
		var program Program
		if program, c.err = d.driver.Compile(spec, full); c.err == nil {
			c.kernel = &Kernel{Spec: spec, Config: full, Program: program, key: spec.Name + " " + full.String()}
		}
		s.end(c, program, ahead, time.Since(start))
		close(c.done)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if key := (kernelKey{spec, full.String()}); c.err != nil && s.named[key] == c {
		delete(s.named, key)
	}
	if !ahead && !c.needed && c.err == nil {
		c.needed = true
		s.stats.Unused--
	}
	return c.kernel, c.err
}

// end counts a kernel; those that are needed are not among the unused ones for long.
func (s *kernels) end(c *compilation, program Program, ahead bool, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	if c.err != nil {
		return
	}
	s.stats.Compiled++
	s.stats.Unused++
	s.stats.Time += took
	if ahead {
		s.stats.Ahead++
	}
	if p, ok := program.(CachedProgram); ok {
		cached, known := p.Cached()
		if known {
			s.stats.Answered++
		}
		if cached {
			s.stats.Cached++
		}
	}
}

// KernelStats counts the kernels compiled so far.
func (d *Device) KernelStats() KernelStats {
	d.kernels.mu.Lock()
	defer d.kernels.mu.Unlock()
	stats := d.kernels.stats
	stats.Pending = d.kernels.running + len(d.kernels.queue)
	return stats
}

// closeAhead ends compiling ahead: kernels that are being compiled are waited for, others are given up.
func (s *kernels) closeAhead() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.ahead.Wait()
}
