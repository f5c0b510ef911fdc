package vulkan

import (
	"fmt"
	"slices"
	"sync"

	"github.com/spirjoin/spirjoin/backend"
)

/*
#include "shim.h"
*/
import "C"

// Validation selects what the Khronos validation layer checks while the backend is open.
type Validation uint8

const (
	Off         Validation = iota // no layer
	Sync                          // correct use of the API, and hazards between commands of one submission
	GPUAssisted                   // correct use of the API, and accesses through bad device addresses
)

func (v Validation) String() string { return [...]string{"off", "sync", "gpu"}[v] }

// ParseValidation parses "off" (or ""), "sync" or "gpu".
func ParseValidation(s string) (Validation, error) {
	for _, v := range []Validation{Off, Sync, GPUAssisted} {
		if s == v.String() || s == "" {
			return v, nil
		}
	}
	return Off, &backend.OpError{Op: "open Vulkan", Err: backend.ErrInvalidInput, Detail: fmt.Sprintf("validation %q, must be off, sync or gpu", s)}
}

// Severity is the severity of a message.
type Severity uint8

const (
	Warning Severity = iota
	Error
)

func (s Severity) String() string { return [...]string{"warning", "error"}[s] }

// Message is a message of the validation layer, or a warning of this package (ID "spirjoin") about something that slows
// down later runs but does not affect results.
type Message struct {
	Severity Severity
	ID       string // of the violated rule
	Text     string
}

func (m Message) String() string { return m.Severity.String() + ": " + m.ID + ": " + m.Text }

// mailbox keeps the messages of one Backend.
type mailbox struct {
	sink     func(Message)
	mu       sync.Mutex
	messages []Message
}

func (b *mailbox) post(m Message) {
	b.mu.Lock()
	b.messages = append(b.messages, m)
	b.mu.Unlock()
	if b.sink != nil {
		b.sink(m)
	}
}

func (b *mailbox) all() []Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.messages)
}

// subscribers receive what the validation layer says; the instance is one per process, so that a message cannot be told
// to belong to one Backend.
var subscribers struct {
	mu    sync.Mutex
	boxes []*mailbox
}

func subscribe(b *mailbox) {
	subscribers.mu.Lock()
	defer subscribers.mu.Unlock()
	subscribers.boxes = append(subscribers.boxes, b)
}

func unsubscribe(b *mailbox) {
	subscribers.mu.Lock()
	defer subscribers.mu.Unlock()
	subscribers.boxes = slices.DeleteFunc(slices.Clone(subscribers.boxes), func(other *mailbox) bool { return other == b })
}

// sjMessage comes from the validation layer, inside a Vulkan call and on its thread, or on a thread of the driver.
//
//export sjMessage
func sjMessage(severity C.uint32_t, id, text *C.char) {
	m := Message{Severity: Warning, Text: C.GoString(text)}
	if severity >= 0x1000 {
		m.Severity = Error
	}
	if id != nil {
		m.ID = C.GoString(id)
	}
	subscribers.mu.Lock()
	boxes := subscribers.boxes
	subscribers.mu.Unlock()
	for _, b := range boxes {
		b.post(m)
	}
}
