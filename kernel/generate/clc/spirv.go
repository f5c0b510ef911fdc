// Package clc translates kernels from SPIR-V to OpenCL C 1.2, so that a kernel has one source, the GLSL. It takes what
// glslc makes of the kernels without optimisation: structured control flow, variables in memory, names. What it does
// not know is an error; nothing is translated by guesswork.
package clc

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Numbers of the SPIR-V specification.
const (
	opName                   = 5
	opMemberName             = 6
	opExtInst                = 12
	opEntryPoint             = 15
	opTypeVoid               = 19
	opTypeBool               = 20
	opTypeInt                = 21
	opTypeFloat              = 22
	opTypeVector             = 23
	opTypeArray              = 28
	opTypeRuntimeArray       = 29
	opTypeStruct             = 30
	opTypePointer            = 32
	opTypeFunction           = 33
	opConstantTrue           = 41
	opConstantFalse          = 42
	opConstant               = 43
	opConstantComposite      = 44
	opSpecConstant           = 50
	opSpecConstantComposite  = 51
	opSpecConstantOp         = 52
	opFunction               = 54
	opFunctionParameter      = 55
	opFunctionEnd            = 56
	opFunctionCall           = 57
	opVariable               = 59
	opLoad                   = 61
	opStore                  = 62
	opAccessChain            = 65
	opDecorate               = 71
	opMemberDecorate         = 72
	opVectorShuffle          = 79
	opCompositeConstruct     = 80
	opCompositeExtract       = 81
	opConvertFToU            = 109
	opConvertUToF            = 112
	opBitcast                = 124
	opIAdd                   = 128
	opFAdd                   = 129
	opISub                   = 130
	opIMul                   = 132
	opFMul                   = 133
	opUDiv                   = 134
	opFDiv                   = 136
	opUMod                   = 137
	opIAddCarry              = 149
	opISubBorrow             = 150
	opUMulExtended           = 151
	opAny                    = 154
	opAll                    = 155
	opLogicalOr              = 166
	opLogicalAnd             = 167
	opLogicalNot             = 168
	opSelect                 = 169
	opIEqual                 = 170
	opINotEqual              = 171
	opUGreaterThan           = 172
	opSGreaterThan           = 173
	opUGreaterThanEqual      = 174
	opSGreaterThanEqual      = 175
	opULessThan              = 176
	opSLessThan              = 177
	opULessThanEqual         = 178
	opShiftRightLogical      = 194
	opShiftRightArithmetic   = 195
	opShiftLeftLogical       = 196
	opBitwiseOr              = 197
	opBitwiseXor             = 198
	opBitwiseAnd             = 199
	opNot                    = 200
	opBitCount               = 205
	opControlBarrier         = 224
	opMemoryBarrier          = 225
	opAtomicExchange         = 229
	opAtomicCompareExchange  = 230
	opAtomicIAdd             = 234
	opAtomicUMax             = 239
	opAtomicAnd              = 240
	opAtomicOr               = 241
	opPhi                    = 245
	opLoopMerge              = 246
	opSelectionMerge         = 247
	opLabel                  = 248
	opBranch                 = 249
	opBranchConditional      = 250
	opReturn                 = 253
	opReturnValue            = 254
	opUnreachable            = 255
	opGroupElect             = 333
	opGroupAny               = 335
	opGroupBroadcast         = 337
	opGroupBallot            = 339
	opGroupBallotBitCount    = 342
	opGroupBallotFindLSB     = 343
	opGroupBallotFindMSB     = 344
	opGroupShuffle           = 345
	opGroupShuffleXor        = 346
	opGroupIAdd              = 349
	opGroupUMax              = 357
	storageInput             = 1
	storageWorkgroup         = 4
	storagePrivate           = 6
	storageFunction          = 7
	storagePush              = 9
	storagePhysical          = 5349
	decorationSpecID         = 1
	decorationBuiltIn        = 11
	decorationVolatile       = 21
	builtInWorkgroupSize     = 25
	builtInWorkgroupID       = 26
	builtInLocalInvocationID = 27
	builtInSubgroupSize      = 36
	builtInNumSubgroups      = 38
	builtInSubgroupID        = 40
	builtInSubgroupLocalID   = 41
	builtInSubgroupLtMask    = 4420
	scopeSubgroup            = 3
)

// instruction is without its first word; Type and ID are 0 where it has none.
type instruction struct {
	op       uint32
	typ, id  uint32
	operands []uint32
}

type block struct {
	label uint32
	code  []instruction // the last one ends the block
}

type function struct {
	id, result uint32
	params     []instruction
	variables  []instruction
	blocks     []*block
	byLabel    map[uint32]*block
}

type module struct {
	names       map[uint32]string
	memberNames map[[2]uint32]string
	specIDs     map[uint32]uint32
	builtIns    map[uint32]uint32
	volatiles   map[uint32]bool // structures with a volatile member
	defs        map[uint32]instruction
	order       []uint32 // types, in the order of their declaration
	globals     []instruction
	functions   []*function
	byID        map[uint32]*function
	entry       uint32
	subgroups   bool
}

func hasResult(op uint32) (typed, id bool) {
	switch op {
	case opTypeVoid, opTypeBool, opTypeInt, opTypeFloat, opTypeVector, opTypeArray, opTypeRuntimeArray, opTypeStruct,
		opTypePointer, opTypeFunction, opLabel:
		return false, true
	case opStore, opControlBarrier, opMemoryBarrier, opLoopMerge, opSelectionMerge, opBranch, opBranchConditional,
		opReturn, opReturnValue, opUnreachable, opFunctionEnd:
		return false, false
	}
	return true, true
}

func parse(code []byte) (*module, error) {
	if len(code) < 20 || len(code)%4 != 0 || binary.LittleEndian.Uint32(code) != 0x07230203 {
		return nil, fmt.Errorf("%d bytes are no SPIR-V", len(code))
	}
	words := make([]uint32, len(code)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(code[4*i:])
	}
	m := &module{names: map[uint32]string{}, memberNames: map[[2]uint32]string{}, specIDs: map[uint32]uint32{},
		builtIns: map[uint32]uint32{}, volatiles: map[uint32]bool{}, defs: map[uint32]instruction{},
		byID: map[uint32]*function{}}
	var f *function
	for words = words[5:]; len(words) > 0; {
		n := int(words[0] >> 16)
		if n == 0 || n > len(words) {
			return nil, fmt.Errorf("an instruction of %d words where %d are left", n, len(words))
		}
		op, w := words[0]&0xffff, words[1:n]
		words = words[n:]
		switch op {
		case opName:
			m.names[w[0]] = text(w[1:])
			continue
		case opMemberName:
			m.memberNames[[2]uint32{w[0], w[1]}] = text(w[2:])
			continue
		case opEntryPoint:
			m.entry = w[1]
			continue
		case opDecorate:
			switch w[1] {
			case decorationSpecID:
				m.specIDs[w[0]] = w[2]
			case decorationBuiltIn:
				m.builtIns[w[0]] = w[2]
				m.subgroups = m.subgroups || slices.Contains(subgroupBuiltIns, w[2])
			}
			continue
		case opMemberDecorate:
			if w[2] == decorationVolatile {
				m.volatiles[w[0]] = true
			}
			continue
		}
		if op < opTypeVoid && op != opExtInst || op == 39 /* forward pointer */ {
			continue // extensions, capabilities, source
		}
		in := instruction{op: op, operands: w}
		switch typed, id := hasResult(op); {
		case typed:
			in.typ, in.id, in.operands = w[0], w[1], w[2:]
		case id:
			in.id, in.operands = w[0], w[1:]
		}
		if in.id != 0 {
			m.defs[in.id] = in
		}
		switch {
		case op == opFunction:
			f = &function{id: in.id, result: in.typ, byLabel: map[uint32]*block{}}
			m.functions, m.byID[in.id] = append(m.functions, f), f
		case op == opFunctionEnd:
			f = nil
		case f == nil && op == opVariable:
			m.globals = append(m.globals, in)
		case f == nil:
			m.order = append(m.order, in.id)
		case op == opFunctionParameter:
			f.params = append(f.params, in)
		case op == opVariable:
			f.variables = append(f.variables, in)
		case op == opLabel:
			b := &block{label: in.id}
			f.blocks, f.byLabel[in.id] = append(f.blocks, b), b
		default:
			b := f.blocks[len(f.blocks)-1]
			b.code = append(b.code, in)
			m.subgroups = m.subgroups || op >= opGroupElect && op <= 366 || op == opControlBarrier && m.defs[in.operands[0]].operands[0] == scopeSubgroup
		}
	}
	return m, nil
}

func text(words []uint32) string {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return strings.TrimRight(string(b), "\x00")
}
