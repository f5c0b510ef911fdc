// Package reduce reduces the rows of each group to states on a device: counts, sums, least and greatest values, first
// rows, moments. It is the device part of a group-by. It knows key codes and words of payload, but no tables or types.
//
// Its one concept is the partial: key codes with a state for each reduction, a key perhaps several times. Reducing rows
// gives partials, reducing partials gives partials, and when each key is there once they are the result. See
// docs/reduce.md.
package reduce

import (
	"fmt"
	"slices"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/relation"
)

// Func says what the values of a group are reduced to.
type Func uint8

const (
	Count   Func = iota // rows or, if the Value has a validity bit, values that are not NULL: a uint64
	Sum                 // of integers: 128 bits, two's complement, modulo 2^128; of floats: a float64
	Min                 // an int64, uint64 or float64, or 128 bits; NaN is above all numbers
	Max                 // the same
	First               // the least row number: a uint64
	Moments             // mean and sum of squared deviations from it: two float64
)

// function is a row of the table of reductions.
type function struct {
	op, floats kernel.GroupOp // operation of the kernels on integers, and on floats
	flip       uint32         // argument of these kernels
	rows       bool           // reads no values, only which rows have one
	state      func(v *Value) (kind Kind, columns int)
	merge      Func // reduces states of one group
}

// functions has a row for each reduction. All code that follows asks it.
var functions = [...]function{
	Count:   {op: kernel.GroupSum, floats: kernel.GroupSum, rows: true, state: number, merge: Sum},
	Sum:     {op: kernel.GroupSum, floats: kernel.GroupSumFloat, state: total, merge: Sum},
	Min:     {op: kernel.GroupLeast, floats: kernel.GroupLeast, state: one, merge: Min},
	Max:     {op: kernel.GroupLeast, floats: kernel.GroupLeast, flip: ^uint32(0), state: one, merge: Max},
	First:   {op: kernel.GroupLeast, floats: kernel.GroupLeast, rows: true, state: number, merge: First},
	Moments: {op: kernel.GroupMoments, floats: kernel.GroupMoments, state: moments, merge: Moments},
}

// number is a state of one unsigned number.
func number(*Value) (Kind, int) { return Unsigned, 1 }

// total is a state of twice the bits of integers, or of one float.
func total(v *Value) (Kind, int) {
	if v.Kind == Float {
		return Float, 1
	}
	return v.Kind, 2
}

// one is a state of one of the values.
func one(v *Value) (Kind, int) {
	if v.Bits == 128 {
		return v.Kind, 2
	}
	return v.Kind, 1
}

// moments is a state of two floats and the number of values, which is not in the result.
func moments(*Value) (Kind, int) { return Float, 3 }

// Merge returns the function that reduces states of one group to its state.
func (f Func) Merge() Func { return functions[f].merge }

// Kind is how the bits of a value are read.
type Kind uint8

const (
	Signed Kind = iota
	Unsigned
	Float
)

// Value says where a value is among the payload columns of a chunk ([relation.Words]).
type Value struct {
	Word      int // payload column; with 128 bits it has the low half, and Word+1 the high one
	Kind      Kind
	Bits      int // 8, 16, 32, 64, 128; of floats 16, 32, 64
	Shift     int // of values of 8 and 16 bits, in a column of 4-byte words
	ValidWord int // payload column of the validity bit; -1: never NULL
	ValidBit  int
}

// Reduction is a function and the values that it takes. Count and First look only at the validity.
type Reduction struct {
	Func  Func
	Value Value
}

// Groups are finished groups on the device, each key once, in any order. States has for each reduction its columns of
// 8-byte words: two for sums of integers, Min and Max of 128 bits, and Moments, and otherwise one. States over no
// values are 0 for Count and Sum of integers, and else undefined. The columns live until the call that brings the
// groups returns.
type Groups struct {
	Rows   uint64
	Keys   relation.Values
	States [][]relation.Values
}

// check returns backend.ErrInvalidInput for a reduction of columns that the payload does not have.
func (r *Reduction) check(payload []int) error {
	bad := func(what string) error {
		return &backend.OpError{Op: "plan group-by", Err: backend.ErrInvalidInput,
			Detail: fmt.Sprintf("%s of reduction %+v with payload of %v bytes", what, *r, payload)}
	}
	has := func(word, bytes int) bool { return word >= 0 && word < len(payload) && payload[word] == bytes }
	v := &r.Value
	if v.ValidWord != -1 && (!has(v.ValidWord, 4) || v.ValidBit < 0 || v.ValidBit > 31) {
		return bad("validity")
	}
	if int(r.Func) >= len(functions) || v.Kind > Float {
		return bad("function or kind")
	}
	if functions[r.Func].rows {
		return nil
	}
	sizes := []int{8, 16, 32, 64, 128}
	if v.Kind == Float {
		sizes = []int{16, 32, 64}
	}
	bytes := 4
	if v.Bits > 32 {
		bytes = 8
	}
	switch {
	case !slices.Contains(sizes, v.Bits):
		return bad("bits")
	case !has(v.Word, bytes) || v.Bits == 128 && !has(v.Word+1, 8):
		return bad("word")
	case v.Shift < 0 || v.Shift > 0 && v.Shift+v.Bits > 32:
		return bad("shift")
	}
	return nil
}

// op is the operation of the kernel.
func (r *Reduction) op() kernel.GroupOp {
	if r.Value.Kind == Float {
		return functions[r.Func].floats
	}
	return functions[r.Func].op
}

// columns is the number of columns of a state on the device.
func (r *Reduction) columns() int {
	_, columns := functions[r.Func].state(&r.Value)
	return columns
}

// State returns the number of columns of a state in the result, and how their words are read.
func (r *Reduction) State() (kind Kind, columns int) {
	kind, columns = functions[r.Func].state(&r.Value)
	return kind, min(2, columns)
}

// Drawn reports whether the graphics pipeline computes the reduction: its state must not depend on the order of rows.
func (r *Reduction) Drawn() bool {
	op := r.op()
	return op == kernel.GroupSum || op == kernel.GroupLeast
}

// input is what a reduction reads: values of rows, or states.
type input struct {
	op                kernel.GroupOp
	columns           int // of the state
	value             [3]backend.Range
	valid             backend.Range
	kind, bits, shift uint32
	validBit, flip    uint32
	firstRow          uint64
}

// reads returns the columns that are read, some of which may be absent.
func (in *input) reads() []*backend.Range {
	return []*backend.Range{&in.value[0], &in.value[1], &in.value[2], &in.valid}
}

// ofRows are the values of the rows of a chunk.
func (r *Reduction) ofRows(c *relation.Chunk, firstRow uint64) input {
	v := &r.Value
	f := &functions[r.Func]
	in := input{op: r.op(), columns: r.columns(), kind: uint32(v.Kind), bits: uint32(v.Bits), shift: uint32(v.Shift),
		firstRow: firstRow, flip: f.flip}
	if v.ValidWord >= 0 {
		in.valid, in.validBit = c.Payload[v.ValidWord].Data, uint32(v.ValidBit)
	}
	if f.rows {
		in.kind, in.bits = kernel.GroupUnsigned, 64
		return in
	}
	in.value[0] = c.Payload[v.Word].Data
	if v.Bits == 128 {
		in.value[1] = c.Payload[v.Word+1].Data
	}
	return in
}

// ofStates are states of partials.
func (r *Reduction) ofStates(states []backend.Range) input {
	f := &functions[r.Func]
	kind, columns := f.state(&r.Value)
	in := input{op: r.op(), columns: columns, kind: uint32(kind), bits: 64, flip: f.flip}
	if copy(in.value[:], states); columns == 2 {
		in.bits = 128
	}
	return in
}
