//go:build linux

package mpi

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spirjoin/spirjoin/cluster"
)

// Tags: of control messages, and of the first stream.
const (
	controlTag = 1
	firstTag   = 2
)

const (
	settle     = 250 * time.Millisecond // for operations under way when a call gives up
	cleanUp    = 3 * time.Second        // from a failure until rank 0 ends all processes
	withoutOne = 5 * time.Second        // until another rank does, if rank 0 does not
	answering  = 500 * time.Millisecond // for ranks that are asked in which round they are
)

// Control messages go between the drivers of two ranks, whatever the rest of the process does.
//
// A rank that fails tells all (abort), with its exit code. Their calls end, they remove what they have written, and
// each says so to rank 0 when it closes the job (clean). Rank 0 ends all processes by MPI_Abort with that exit code
// when all have said so, or 3 seconds after the failure; if it does not, another rank does after 5. MPI_Finalize would
// wait for messages that nobody receives.
//
// A rank that waits too long in a round asks the others how many rounds they have come to (ask, answer).
type controlKind uint32

const (
	abortMessage controlKind = iota + 1
	cleanMessage
	askMessage
	answerMessage
)

// controlBytes is the size of a control message: kind, two numbers and a text with its length before it.
const controlBytes = 4096

// control is what a rank knows by control messages. Of the driver alone.
type control struct {
	clean   []bool   // ranks that have cleaned up
	rounds  []uint64 // that ranks have come to, by their answers; 0: none yet
	memory  []byte   // of the receives
	allDone chan struct{}
}

// listen begins to receive control messages.
func (j *Job) listen() {
	j.control = control{clean: make([]bool, j.size), rounds: make([]uint64, j.size), allDone: make(chan struct{})}
	j.do(func() {
		memory, err := pages(controlBytes * j.size)
		if err != nil {
			j.lose(err)
			return
		}
		j.control.memory = memory
		for from := range j.size {
			if from != j.rank {
				j.hear(from)
			}
		}
	})
}

// hear receives the next control message of a rank. On the driver.
func (j *Job) hear(from int) {
	memory := j.control.memory[from*controlBytes:][:controlBytes]
	j.receive(memory, from, controlTag, func(err error) {
		if err != nil {
			j.lose(err)
			return
		}
		kind := controlKind(binary.LittleEndian.Uint32(memory))
		a, b := binary.LittleEndian.Uint64(memory[4:]), binary.LittleEndian.Uint64(memory[12:])
		text := memory[controlHead:][:min(binary.LittleEndian.Uint32(memory[20:]), controlBytes-controlHead)]
		j.heard(from, kind, a, b, string(text))
		j.hear(from)
	})
}

const controlHead = 24

// heard acts on a control message.
func (j *Job) heard(from int, kind controlKind, a, b uint64, text string) {
	switch kind {
	case abortMessage:
		if !j.end(&cluster.Lost{Rank: int(a), Code: int(b), Text: text}) {
			j.lowest.Store(min(j.lowest.Load(), int64(a)))
		}
	case cleanMessage:
		j.cleaned(from)
	case askMessage:
		j.tell(from, answerMessage, j.rounds.Load()+1, 0, "")
	case answerMessage:
		j.control.rounds[from] = a
	}
}

// tell sends a control message. On the driver.
func (j *Job) tell(to int, kind controlKind, a, b uint64, text string) {
	memory, err := pages(controlBytes)
	if err != nil {
		return // then the rank learns of it by the end of the job
	}
	text = text[:min(len(text), controlBytes-controlHead)]
	message := binary.LittleEndian.AppendUint32(memory[:0], uint32(kind))
	message = binary.LittleEndian.AppendUint64(message, a)
	message = binary.LittleEndian.AppendUint64(message, b)
	message = append(binary.LittleEndian.AppendUint32(message, uint32(len(text))), text...)
	j.send(message, to, controlTag, func(error) { free(memory) })
}

// Abort implements cluster.Job.
func (j *Job) Abort(err error) {
	lost := j.NewLost(j.rank, err)
	j.do(func() {
		if !j.end(lost) {
			return
		}
		for to := range j.size {
			if to != j.rank {
				j.tell(to, abortMessage, uint64(lost.Rank), uint64(lost.Code), lost.Text)
			}
		}
	})
	<-j.ctx.Done()
}

// LowestFailed waits a moment after a failure and returns the lowest rank that has failed by then: the same fault may
// end several at once.
func (j *Job) LowestFailed() int {
	time.Sleep(settle)
	return int(j.lowest.Load())
}

// lose ends the job with an error of the connection of this rank, and returns it.
func (j *Job) lose(err error) error {
	lost := &cluster.Lost{Rank: j.rank, Code: 1, Text: err.Error()}
	if j.ctx.Err() == nil {
		go j.Abort(lost) // waits for the driver, which may be the caller
	}
	return lost
}

// end ends the calls of this rank, if it is the first to do so, and arms the end of its process. On the driver.
func (j *Job) end(lost *cluster.Lost) bool {
	if j.ctx.Err() != nil {
		return false
	}
	j.lowest.Store(int64(lost.Rank))
	j.cancel(lost)
	limit := cleanUp
	if j.rank != 0 {
		limit = withoutOne
	}
	time.AfterFunc(limit, func() { j.do(func() { j.killAll(lost.Code) }) })
	return true
}

// cleaned notes, on rank 0, that a rank has cleaned up after a failure. On the driver.
func (j *Job) cleaned(rank int) {
	j.control.clean[rank] = true
	if !slices.Contains(j.control.clean, false) {
		close(j.control.allDone)
	}
}

// endFailed says that this rank has cleaned up after a failure, and waits for the end of the process.
func (j *Job) endFailed() error {
	err := context.Cause(j.ctx)
	lost := (*cluster.Lost)(nil)
	if !errors.As(err, &lost) {
		return err // closed before
	}
	if j.rank == 0 {
		j.do(func() { j.cleaned(0) })
		<-j.control.allDone // or the process ends
		j.do(func() { j.killAll(lost.Code) })
	} else {
		j.do(func() { j.tell(0, cleanMessage, 0, 0, "") })
	}
	time.Sleep(2 * withoutOne)
	os.Exit(lost.Code) // MPI_Abort did not end it
	return nil
}

// missing asks all ranks how many rounds they have come to, and names those that have come to fewer.
func (j *Job) missing(number uint64, round string) string {
	j.do(func() {
		clear(j.control.rounds)
		for to := range j.size {
			if to != j.rank {
				j.tell(to, askMessage, 0, 0, "")
			}
		}
	})
	select {
	case <-time.After(answering):
	case <-j.ctx.Done():
	}
	answers := make(chan []uint64, 1)
	j.do(func() { answers <- slices.Clone(j.control.rounds) })
	var late, silent []int
	for rank, answer := range <-answers {
		switch {
		case rank == j.rank:
		case answer == 0:
			silent = append(silent, rank)
		case answer-1 < number:
			late = append(late, rank)
		}
	}
	var says []string
	if len(late) > 0 {
		says = append(says, fmt.Sprintf("%s did not come to round %q", cluster.Ranks(late), round))
	}
	if len(silent) > 0 {
		says = append(says, fmt.Sprintf("%s did not answer in round %q", cluster.Ranks(silent), round))
	}
	if len(says) == 0 {
		return fmt.Sprintf("round %q, to which all ranks came, did not end", round)
	}
	return strings.Join(says, "; ")
}
