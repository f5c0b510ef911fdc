//go:build linux

package mpi

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
)

// Job is this process in a job of MPI.
type Job struct {
	cluster.Options
	*driver
	rank, size int
	tagLimit   int
	nodes      []int

	ctx      context.Context
	cancel   context.CancelCauseFunc
	counters *cluster.Counters
	control  control
	lowest   atomic.Int64 // rank that has failed, once ctx has ended

	round    chan struct{} // holds a value while a round is under way
	roundErr error         // of a round that did not end: none can follow
	rounds   atomic.Uint64 // rounds that this rank has come to

	mu      sync.Mutex // guards what follows
	opened  map[string]int
	streams map[int]*stream // by tag, those that have not ended
}

var (
	_ cluster.Job = (*Job)(nil)

	started atomic.Bool
)

// registrations are variables that keep libraries from caching the registrations of memory with a network card. A cache
// would have to see every munmap and madvise of the process. It does not see Go's, which call the kernel without libc,
// and the card would go on reading and writing pages that the process has lost. Variables that are set already stay.
var registrations = map[string]string{
	"UCX_MEM_EVENTS":            "n", // UCX caches nothing without events
	"OMPI_MCA_mpi_leave_pinned": "0",
	"FI_MR_CACHE_MONITOR":       "disabled", // libfabric
}

// Start opens the library of MPI and begins the part of this process in its job. A process can start once. Errors:
// ErrUnsupported without a launcher, without its library, if launcher and library belong to different MPIs, and at a
// second call.
func Start(o cluster.Options) (*Job, error) {
	by, launched := launchedBy(os.Getenv)
	switch {
	case !launched:
		return nil, unsupported("no launcher of MPI has started this process; use mpirun, mpiexec or srun")
	case started.Swap(true):
		return nil, unsupported("MPI can start only once in a process")
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	j := &Job{Options: cluster.Options{ExitCode: o.ExitCode}, ctx: ctx, cancel: cancel, round: make(chan struct{}, 1),
		opened: make(map[string]int), streams: make(map[int]*stream)}
	begun := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for ever: the thread ends with the goroutine
		err := j.begin(by)
		begun <- err
		if err == nil {
			j.run()
		}
	}()
	err := <-begun
	if err == nil {
		j.listen()
		err = j.findNodes()
	}
	if err != nil {
		cancel(err)
		return nil, err
	}
	j.Stall = o.Stall // from now on: processes start at different times
	return j, nil
}

// begin opens the library on the goroutine of the driver.
func (j *Job) begin(by launcher) error {
	before := savedSignals()
	defer before.restore()
	for name, value := range registrations {
		if _, set := os.LookupEnv(name); !set {
			_ = os.Setenv(name, value)
		}
	}
	l, err := load(by)
	if err != nil {
		return err
	}
	j.driver = newDriver(l, func(err error) { j.lose(err) })
	if j.communicator, j.rank, j.size, j.tagLimit, err = l.begin(); err != nil {
		return err
	}
	if by.size > 0 && by.size != j.size {
		return unsupported("%s has started %d processes, but %s (%s) knows of %d: %s", by.name, by.size,
			title(l.version), l.file, j.size, ofOne)
	}
	j.counters = cluster.NewCounters(j.size)
	return nil
}

func (j *Job) Rank() int                { return j.rank }
func (j *Job) Size() int                { return j.size }
func (j *Job) Nodes() []int             { return j.nodes }
func (j *Job) Context() context.Context { return j.ctx }
func (j *Job) Stats() cluster.Stats     { return j.counters.Stats() }

// Library returns name and version of the library.
func (j *Job) Library() string { return title(j.version) }

// LauncherCores returns the number of cores on which the process that has started this one may run; 0 if it is unknown.
// That is all that the job has on this node: a launcher binds ranks, but not itself.
func LauncherCores() int {
	var cores unix.CPUSet
	if unix.SchedGetaffinity(os.Getppid(), &cores) != nil {
		return 0
	}
	return cores.Count()
}

// findNodes numbers the nodes. Processes share one if they see the same boot of a kernel and the same host name.
// Containers of a machine have names of their own, and do not share memory.
func (j *Job) findNodes() error {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // the name may do
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("find nodes: %w", err)
	}
	said, err := j.Gather(context.Background(), "nodes", append(boot, host...))
	if err != nil {
		return err
	}
	numbers := make(map[string]int)
	for _, node := range said {
		if _, known := numbers[string(node)]; !known {
			numbers[string(node)] = len(numbers)
		}
		j.nodes = append(j.nodes, numbers[string(node)])
	}
	return nil
}

// hash is that of a name, which all ranks compute alike.
func hash(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return h.Sum64()
}

// Open implements cluster.Job. The tag of a stream is a hash of its name and of how often that was opened, so that
// ranks agree without a message. Messages have a longer hash, which tells two streams of one tag apart.
func (j *Job) Open(name string) cluster.Stream {
	j.mu.Lock()
	defer j.mu.Unlock()
	h := hash(fmt.Sprintf("%s/%d", name, j.opened[name]))
	j.opened[name]++
	s := newStream(j, name, h, firstTag+int(h%uint64(j.tagLimit-firstTag)))
	if other := j.streams[s.tag]; other != nil {
		s.err = &backend.OpError{Op: "open stream", Err: backend.ErrInvalidInput,
			Detail: fmt.Sprintf("the names %q and %q have the same tag: choose another name", name, other.name)}
		return s
	}
	if s.err = s.begin(); s.err == nil && j.size > 1 {
		j.streams[s.tag] = s
	}
	return s
}

// unended names a stream that has not ended; "": all have.
func (j *Job) unended() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range j.streams {
		return s.name
	}
	return ""
}

// Close implements cluster.Job. After a failure it does not return: the processes of the job end together, when each
// has called Close, or 3 seconds after the failure.
func (j *Job) Close() error {
	if j.ctx.Err() != nil {
		return j.endFailed()
	}
	if err := j.checkEnds(context.Background()); err != nil {
		j.Abort(err)
		return j.endFailed()
	}
	result := make(chan error, 1)
	j.do(func() { result <- j.finish() })
	err := <-result
	<-j.ended
	j.cancel(nil)
	return err
}

// checkEnds waits until all ranks close the job, and checks that all streams have ended.
func (j *Job) checkEnds(ctx context.Context) error {
	if _, err := j.Gather(ctx, "close", nil); err != nil {
		return err
	}
	for limit := time.Now().Add(settle); j.unended() != "" && time.Now().Before(limit); {
		time.Sleep(shortestPause) // the ends that this rank has sent are on their way
	}
	said, err := j.Gather(ctx, "streams", []byte(j.unended()))
	if err != nil {
		return err
	}
	for rank, name := range said {
		if len(name) > 0 {
			return &backend.OpError{Op: "close job", Err: backend.ErrInvalidInput,
				Detail: fmt.Sprintf("stream %q of rank %d was not sent and received to its end: abort instead", name,
					rank)}
		}
	}
	return nil
}
