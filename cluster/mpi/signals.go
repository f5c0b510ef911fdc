//go:build linux

package mpi

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// action is what the kernel does with a signal: handler, flags, restorer, mask (struct sigaction of rt_sigaction).
type action [32]byte

// signals are the actions of all signals, by number.
type signals [65]action

// savedSignals returns the actions of all signals. UCX takes SIGSEGV, SIGBUS and others when it is opened, and MPICH
// and Open MPI some more; then a nil dereference ends the process before Go can recover it.
func savedSignals() *signals {
	s := new(signals)
	for number := 1; number < len(s); number++ {
		_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(number), 0,
			uintptr(unsafe.Pointer(&s[number])), 8, 0, 0)
	}
	return s
}

// restore brings back the actions that differ now.
func (s *signals) restore() {
	for number, now := range savedSignals() {
		if number > 0 && now != s[number] {
			_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(number),
				uintptr(unsafe.Pointer(&s[number])), 0, 8, 0, 0)
		}
	}
}
