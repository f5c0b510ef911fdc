package kernel_test

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// What the tests read of SPIR-V: the numbers of its specification.
const (
	opMemberName = 6
	opCapability = 17
	opTypeInt    = 21
	opTypeVector = 23
	opTypeArray  = 28
	opTypeStruct = 30
	opTypePtr    = 32
	opConstant   = 43
	opSpec       = 50
	opSpecComp   = 51
	opSpecOp     = 52
	opVariable   = 59
	opDecorate   = 71
	opMemberDeco = 72

	decorationSpecID  = 1
	decorationBuiltIn = 11
	decorationOffset  = 35

	builtInWorkgroupSize = 25

	storageWorkgroup = 4
	storagePush      = 9

	capabilityInt64        = 11
	capabilityInt64Atomics = 12
)

// module is a SPIR-V module as far as the tests look at it. Instructions are without their first word.
type module struct {
	capabilities []uint32
	byID         map[uint32]instruction // types, constants and variables
	variables    []uint32
	specIDs      map[uint32]uint32 // specialization id by result id
	builtIns     map[uint32]uint32 // built-in by result id
	memberNames  map[[2]uint32]string
	offsets      map[[2]uint32]uint32
}

type instruction struct {
	op    uint32
	words []uint32
}

func parseSPIRV(code []byte) (*module, error) {
	if len(code) < 20 || len(code)%4 != 0 || binary.LittleEndian.Uint32(code) != 0x07230203 {
		return nil, fmt.Errorf("%d bytes are no SPIR-V", len(code))
	}
	words := make([]uint32, len(code)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(code[4*i:])
	}
	m := &module{byID: map[uint32]instruction{}, specIDs: map[uint32]uint32{}, builtIns: map[uint32]uint32{},
		memberNames: map[[2]uint32]string{}, offsets: map[[2]uint32]uint32{}}
	for words = words[5:]; len(words) > 0; {
		n := words[0] >> 16
		if n == 0 || int(n) > len(words) {
			return nil, fmt.Errorf("an instruction of %d words where %d are left", n, len(words))
		}
		m.add(words[0]&0xffff, words[1:n])
		words = words[n:]
	}
	return m, nil
}

func (m *module) add(op uint32, w []uint32) {
	switch op {
	case opCapability:
		m.capabilities = append(m.capabilities, w[0])
	case opMemberName:
		m.memberNames[[2]uint32{w[0], w[1]}] = text(w[2:])
	case opDecorate:
		switch w[1] {
		case decorationSpecID:
			m.specIDs[w[0]] = w[2]
		case decorationBuiltIn:
			m.builtIns[w[0]] = w[2]
		}
	case opMemberDeco:
		if w[2] == decorationOffset {
			m.offsets[[2]uint32{w[0], w[1]}] = w[3]
		}
	case opTypeInt, opTypeVector, opTypeArray, opTypeStruct, opTypePtr:
		m.byID[w[0]] = instruction{op, w[1:]}
	case opConstant, opSpec, opSpecComp, opSpecOp, opVariable:
		m.byID[w[1]] = instruction{op, w[2:]}
		if op == opVariable {
			m.byID[w[1]] = instruction{op, w}
			m.variables = append(m.variables, w[1])
		}
	}
}

func text(words []uint32) string {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return strings.TrimRight(string(b), "\x00")
}

// pointees returns the types of the variables of a storage class.
func (m *module) pointees(storage uint32) (types []uint32) {
	for _, id := range m.variables {
		if pointer := m.byID[m.byID[id].words[0]]; pointer.words[0] == storage {
			types = append(types, pointer.words[1])
		}
	}
	return types
}

// constant evaluates an integer constant, specialization constants with the values given by id.
func (m *module) constant(id uint32, spec []uint32) (uint32, error) {
	in := m.byID[id]
	switch in.op {
	case opConstant:
		return in.words[0], nil
	case opSpec:
		specID, ok := m.specIDs[id]
		if !ok || int(specID) >= len(spec) {
			return 0, fmt.Errorf("specialization constant %d without a value", specID)
		}
		return spec[specID], nil
	case opSpecOp:
		if in.words[0] == 81 { // CompositeExtract
			return m.constant(m.byID[in.words[1]].words[in.words[2]], spec)
		}
		a, err := m.constant(in.words[1], spec)
		if err != nil {
			return 0, err
		}
		b, err := m.constant(in.words[2], spec)
		if err != nil {
			return 0, err
		}
		switch in.words[0] {
		case 128:
			return a + b, nil
		case 130:
			return a - b, nil
		case 132:
			return a * b, nil
		case 134:
			return a / b, nil
		case 169: // Select
			if a == 1 {
				return b, nil
			}
			return m.constant(in.words[3], spec)
		case 170: // IEqual
			return truth(a == b), nil
		case 171: // INotEqual
			return truth(a != b), nil
		case 176: // ULessThan
			return truth(a < b), nil
		case 199: // BitwiseAnd
			return a & b, nil
		}
	}
	return 0, fmt.Errorf("id %d: operation %d %v is unknown to this test", id, in.op, in.words)
}

func truth(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// sizeBytes is the size of a type of integers, vectors, arrays and structures.
func (m *module) sizeBytes(id uint32, spec []uint32) (uint32, error) {
	in := m.byID[id]
	switch in.op {
	case opTypeInt:
		return in.words[0] / 8, nil
	case opTypeVector:
		size, err := m.sizeBytes(in.words[0], spec)
		return size * in.words[1], err
	case opTypeArray:
		size, err := m.sizeBytes(in.words[0], spec)
		if err != nil {
			return 0, err
		}
		n, err := m.constant(in.words[1], spec)
		return size * n, err
	case opTypeStruct:
		var sum uint32
		for _, member := range in.words {
			size, err := m.sizeBytes(member, spec)
			if err != nil {
				return 0, err
			}
			sum += size
		}
		return sum, nil
	}
	return 0, fmt.Errorf("type %d is unknown to this test", in.op)
}
