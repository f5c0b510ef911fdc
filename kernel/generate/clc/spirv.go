package clc

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// instruction is one of SPIR-V without its first word; typ and id are 0 where it has none.
type instruction struct {
	op       uint32
	typ, id  uint32
	operands []uint32
}

type block struct {
	label uint32
	code  []instruction // the last one ends the block
}

func (b *block) end() instruction { return b.code[len(b.code)-1] }

type function struct {
	id, result uint32
	params     []instruction
	variables  []instruction
	blocks     []*block
	byLabel    map[uint32]*block
}

// instructions visits those of all blocks, with their positions.
func (f *function) instructions(visit func(b *block, i int, in instruction)) {
	for _, b := range f.blocks {
		for i, in := range b.code {
			visit(b, i, in)
		}
	}
}

type module struct {
	names       map[uint32]string
	memberNames map[[2]uint32]string // by structure and index
	specIDs     map[uint32]uint32
	strides     map[uint32]uint32 // of arrays in device memory, in bytes
	builtIns    map[uint32]uint32
	volatiles   map[uint32]bool // structures with a volatile member
	defs        map[uint32]instruction
	globals     []instruction
	functions   []*function
	byID        map[uint32]*function
	entry       uint32
}

// parse reads a module. Instructions that it does not know have a type and a result, as almost all have; their use is
// an error of the translation.
func parse(code []byte) (*module, error) {
	if len(code) < 20 || len(code)%4 != 0 || binary.LittleEndian.Uint32(code) != 0x07230203 {
		return nil, fmt.Errorf("%d bytes are no SPIR-V", len(code))
	}
	words := make([]uint32, len(code)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(code[4*i:])
	}
	m := &module{names: map[uint32]string{}, memberNames: map[[2]uint32]string{}, specIDs: map[uint32]uint32{},
		strides: map[uint32]uint32{}, builtIns: map[uint32]uint32{}, volatiles: map[uint32]bool{},
		defs: map[uint32]instruction{}, byID: map[uint32]*function{}}
	var f *function
	for words = words[5:]; len(words) > 0; {
		n := int(words[0] >> 16)
		if n == 0 || n > len(words) {
			return nil, fmt.Errorf("SPIR-V instruction of %d words where %d are left", n, len(words))
		}
		op, w := words[0]&0xffff, words[1:n]
		words = words[n:]
		if !m.annotation(op, w) {
			f = m.add(f, instructionOf(op, w))
		}
	}
	return m, nil
}

// annotation reads what is not code: names, decorations, and what does not matter here.
func (m *module) annotation(op uint32, w []uint32) bool {
	switch {
	case op == opName:
		if m.names[w[0]] == "" { // a constant that equals another has its name, too, later
			m.names[w[0]] = text(w[1:])
		}
	case op == opMemberName:
		m.memberNames[[2]uint32{w[0], w[1]}] = text(w[2:])
	case op == opEntryPoint:
		m.entry = w[1]
	case op == opDecorate && w[1] == decorationSpecID:
		m.specIDs[w[0]] = w[2]
	case op == opDecorate && w[1] == decorationArrayStride:
		m.strides[w[0]] = w[2]
	case op == opDecorate && w[1] == decorationBuiltIn:
		m.builtIns[w[0]] = w[2]
	case op == opMemberDecorate && w[2] == decorationVolatile:
		m.volatiles[w[0]] = true
	}
	// Below the types, all but extended instructions are about the source, extensions and capabilities.
	return op == opDecorate || op == opMemberDecorate || op == opTypeForwardPointer || op < opTypeVoid && op != opExtInst
}

func instructionOf(op uint32, w []uint32) instruction {
	switch op {
	case opTypeVoid, opTypeBool, opTypeInt, opTypeFloat, opTypeVector, opTypeArray, opTypeRuntimeArray, opTypeStruct,
		opTypePointer, opTypeFunction, opLabel:
		return instruction{op: op, id: w[0], operands: w[1:]}
	case opStore, opControlBarrier, opMemoryBarrier, opLoopMerge, opSelectionMerge, opBranch, opBranchConditional,
		opSwitch, opReturn, opReturnValue, opUnreachable, opFunctionEnd:
		return instruction{op: op, operands: w}
	}
	if len(w) < 2 {
		return instruction{op: op}
	}
	return instruction{op: op, typ: w[0], id: w[1], operands: w[2:]}
}

// add appends an instruction to the module or to the function f, and returns the function that is then open.
func (m *module) add(f *function, in instruction) *function {
	if in.id != 0 {
		m.defs[in.id] = in
	}
	switch {
	case in.op == opFunction:
		f = &function{id: in.id, result: in.typ, byLabel: map[uint32]*block{}}
		m.functions, m.byID[in.id] = append(m.functions, f), f
	case in.op == opFunctionEnd:
		return nil
	case f == nil && in.op == opVariable:
		m.globals = append(m.globals, in)
	case f == nil: // a type or a constant
	case in.op == opFunctionParameter:
		f.params = append(f.params, in)
	case in.op == opVariable:
		f.variables = append(f.variables, in)
	case in.op == opLabel:
		b := &block{label: in.id}
		f.blocks, f.byLabel[in.id] = append(f.blocks, b), b
	default:
		b := f.blocks[len(f.blocks)-1]
		b.code = append(b.code, in)
	}
	return f
}

func text(words []uint32) string {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return strings.TrimRight(string(b), "\x00")
}

// values are the ids that an instruction uses as values or pointers.
func (in instruction) values() []uint32 {
	switch in.op {
	case opCompositeExtract, opLoad, opReturnValue, opBranchConditional, opSwitch:
		return in.operands[:1]
	case opStore, opVectorShuffle:
		return in.operands[:2]
	case opExtInst, opGroupBallotBitCount, opGroupIAdd, opGroupUMax:
		return in.operands[2:]
	case opFunctionCall:
		return in.operands[1:]
	case opGroupElect, opGroupAll, opGroupAny, opGroupBroadcast, opGroupBallot, opGroupBallotFindLSB,
		opGroupBallotFindMSB, opGroupShuffle, opGroupShuffleXor: // behind the scope
		return in.operands[1:]
	case opAtomicIAdd, opAtomicUMin, opAtomicUMax, opAtomicAnd, opAtomicOr, opAtomicXor, opAtomicExchange:
		return []uint32{in.operands[0], in.operands[3]}
	case opAtomicCompareExchange:
		return []uint32{in.operands[0], in.operands[4], in.operands[5]}
	case opPhi:
		var ids []uint32
		for i := 0; i < len(in.operands); i += 2 {
			ids = append(ids, in.operands[i])
		}
		return ids
	case opLoopMerge, opSelectionMerge, opBranch, opReturn, opLabel, opVariable, opControlBarrier, opMemoryBarrier,
		opUnreachable:
		return nil
	}
	return in.operands
}

// root is the variable or parameter that a pointer points into, or the pointer to device memory.
func (m *module) root(id uint32) uint32 {
	for m.defs[id].op == opAccessChain {
		id = m.defs[id].operands[0]
	}
	return id
}

// storage is the storage class of a pointer, 0 for other values.
func (m *module) storage(pointer uint32) uint32 {
	if typ := m.defs[m.defs[pointer].typ]; typ.op == opTypePointer {
		return typ.operands[0]
	}
	return 0
}

// pointee is the type that a pointer points to.
func (m *module) pointee(pointer uint32) uint32 { return m.defs[m.defs[pointer].typ].operands[1] }

// isVolatile tells whether a pointer points into a volatile block of device memory.
func (m *module) isVolatile(pointer uint32) bool {
	root := m.root(pointer)
	return m.storage(root) == storagePhysical && m.volatiles[m.pointee(root)]
}
