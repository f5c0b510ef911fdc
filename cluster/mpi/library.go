//go:build linux

package mpi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"

	"github.com/spirjoin/spirjoin/backend"
)

// libraryVariable names the file of the library, in the place of what the launcher suggests.
const libraryVariable = "SPIRJOIN_MPI"

// library is libmpi. All but load is for the thread that owns it.
type library struct {
	abi
	file    string
	version string // what it says of itself
	// memory for results of calls, outside of Go's heap
	results []byte

	world, bytes, errorsReturn uintptr
	functions
}

// functions are the addresses of those that we call.
type functions struct {
	getVersion, initThread, setErrhandler, dup, rank, size, getAttribute, errorString, issend, irecv, testsome, gather,
	gatherv, cancel, abort, finalize uintptr
}

// ofOne is the remedy where launcher and library do not fit.
const ofOne = "use the launcher and the library of one MPI"

func unsupported(format string, a ...any) error {
	return &backend.OpError{Op: "open MPI", Err: backend.ErrUnsupported, Detail: fmt.Sprintf(format, a...)}
}

// pages returns memory outside of Go's heap, in pages of its own.
func pages(sizeBytes int) ([]byte, error) {
	memory, err := unix.Mmap(-1, 0, sizeBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, &backend.OpError{Op: "map memory for MPI", Err: backend.ErrHostMemory,
			Detail: fmt.Sprintf("%d bytes: %v", sizeBytes, err)}
	}
	return memory, nil
}

// free unmaps what pages returned.
func free(memory []byte) { _ = unix.Munmap(memory) } // cannot fail for a whole mapping

// load opens the first library that is there, and finds its functions and handles.
func load(by launcher) (*library, error) {
	files := by.libraries
	if file := os.Getenv(libraryVariable); file != "" {
		files = []string{file}
	}
	l := &library{}
	var from uintptr
	var errs []error
	for _, file := range files {
		// Its modules look for its symbols among the global ones.
		opened, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err == nil {
			from, l.file = opened, file
			break
		}
		errs = append(errs, err)
	}
	if from == 0 {
		return nil, unsupported("%s has started this process, but its library is missing (Debian, Ubuntu: libopenmpi3 "+
			"or libmpich12; %s=FILE names another one): %v", by.name, libraryVariable, errors.Join(errs...))
	}
	if err := l.find(from); err != nil {
		return nil, err
	}
	if !by.fits(l.version) {
		return nil, unsupported("%s has started this process, but %s is %s: %s", by.name, l.file, title(l.version),
			ofOne)
	}
	return l, nil
}

// find looks up functions and handles.
func (l *library) find(from uintptr) (err error) {
	if l.results, err = pages(resultBytes); err != nil {
		return err
	}
	find := func(name string) (address uintptr) {
		if err == nil {
			if address, err = purego.Dlsym(from, name); err != nil {
				err = unsupported("%s: %v", l.file, err)
			}
		}
		return address
	}
	l.functions = functions{
		getVersion: find("MPI_Get_library_version"), initThread: find("MPI_Init_thread"),
		setErrhandler: find("MPI_Comm_set_errhandler"), dup: find("MPI_Comm_dup"), rank: find("MPI_Comm_rank"),
		size: find("MPI_Comm_size"), getAttribute: find("MPI_Comm_get_attr"), errorString: find("MPI_Error_string"),
		issend: find("MPI_Issend"), irecv: find("MPI_Irecv"), testsome: find("MPI_Testsome"),
		gather: find("MPI_Iallgather"), gatherv: find("MPI_Iallgatherv"), cancel: find("MPI_Cancel"),
		abort: find("MPI_Abort"), finalize: find("MPI_Finalize"),
	}
	if err != nil {
		return err
	}
	purego.SyscallN(l.getVersion, address(l.results[textAt:]), address(l.results))
	l.version = l.text()
	major := 0
	if get, missing := purego.Dlsym(from, "MPI_Abi_get_version"); missing == nil {
		purego.SyscallN(get, address(l.results), address(l.results[4:])) // -1 if the ABI is another one
		major = int(l.result(0))
	}
	known := false
	if l.abi, known = abiOf(l.version, major); !known {
		return unsupported("%s is an unknown MPI: %q", l.file, title(l.version))
	}
	value := func(h handle) uintptr {
		if h.symbol != "" {
			return find(h.symbol)
		}
		return h.number
	}
	l.world, l.bytes, l.errorsReturn = value(l.abi.world), value(l.abi.bytes), value(l.abi.errorsReturn)
	return err
}

// Results of calls: numbers first, then text, of at most MPI_MAX_LIBRARY_VERSION_STRING bytes, with its length first.
const (
	textAt      = 64
	resultBytes = textAt + 8192
)

func (l *library) result(at int) int32 { return int32(binary.LittleEndian.Uint32(l.results[at:])) }

// handle returns the handle that a call has written.
func (l *library) handle(at int) uintptr {
	if l.handleBytes == 4 {
		return uintptr(binary.LittleEndian.Uint32(l.results[at:]))
	}
	return uintptr(binary.LittleEndian.Uint64(l.results[at:]))
}

func (l *library) text() string { return string(l.results[textAt:][:min(max(l.result(0), 0), 8192)]) }

// address returns the address of memory that the garbage collector does not move: outside of its heap, or of it, but
// not on a stack.
func address(memory []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(memory))) }

// call calls a function. Errors: *cluster.Lost would name this rank, which the caller knows.
func (l *library) call(name string, function uintptr, arguments ...uintptr) error {
	code, _, _ := purego.SyscallN(function, arguments...)
	if int32(code) == 0 {
		return nil
	}
	purego.SyscallN(l.errorString, code, address(l.results[textAt:]), address(l.results))
	return fmt.Errorf("%s of %s: %s", name, title(l.version), l.text())
}

// begin starts the part of this process and returns a communicator of its own, with the greatest tag.
func (l *library) begin() (communicator uintptr, rank, size, tagLimit int, err error) {
	call := func(name string, function uintptr, arguments ...uintptr) {
		if err == nil {
			err = l.call(name, function, arguments...)
		}
	}
	out := address(l.results)
	call("MPI_Init_thread", l.initThread, 0, 0, l.funneled, out)
	call("MPI_Comm_set_errhandler", l.setErrhandler, l.world, l.errorsReturn)
	call("MPI_Comm_dup", l.dup, l.world, out)
	communicator = l.handle(0)
	call("MPI_Comm_set_errhandler", l.setErrhandler, communicator, l.errorsReturn)
	call("MPI_Comm_rank", l.rank, communicator, out)
	rank = int(l.result(0))
	call("MPI_Comm_size", l.size, communicator, out)
	size = int(l.result(0))
	// The value is the address of a number, which lives as long as the library.
	call("MPI_Comm_get_attr", l.getAttribute, l.world, l.tagLimit, out, out+8)
	tagLimit = leastTagLimit
	if err == nil && l.result(8) != 0 {
		tagLimit = int(**(**int32)(unsafe.Pointer(&l.results[0])))
	}
	if err != nil {
		err = unsupported("%v", err)
	}
	return communicator, rank, size, tagLimit, err
}

// leastTagLimit is what every MPI allows.
const leastTagLimit = 1<<15 - 1
