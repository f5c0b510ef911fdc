package clc

// Numbers of the SPIR-V specification, as far as kernels use them.
const (
	opName                  = 5
	opMemberName            = 6
	opExtInst               = 12
	opEntryPoint            = 15
	opTypeVoid              = 19
	opTypeBool              = 20
	opTypeInt               = 21
	opTypeFloat             = 22
	opTypeVector            = 23
	opTypeArray             = 28
	opTypeRuntimeArray      = 29
	opTypeStruct            = 30
	opTypePointer           = 32
	opTypeFunction          = 33
	opTypeForwardPointer    = 39
	opConstantTrue          = 41
	opConstantFalse         = 42
	opConstant              = 43
	opConstantComposite     = 44
	opSpecConstant          = 50
	opSpecConstantComposite = 51
	opSpecConstantOp        = 52
	opFunction              = 54
	opFunctionParameter     = 55
	opFunctionEnd           = 56
	opFunctionCall          = 57
	opVariable              = 59
	opLoad                  = 61
	opStore                 = 62
	opAccessChain           = 65
	opDecorate              = 71
	opMemberDecorate        = 72
	opVectorShuffle         = 79
	opCompositeConstruct    = 80
	opCompositeExtract      = 81
	opConvertFToU           = 109
	opConvertFToS           = 110
	opConvertSToF           = 111
	opConvertUToF           = 112
	opBitcast               = 124
	opSNegate               = 126
	opFNegate               = 127
	opIAdd                  = 128
	opFAdd                  = 129
	opISub                  = 130
	opFSub                  = 131
	opIMul                  = 132
	opFMul                  = 133
	opUDiv                  = 134
	opFDiv                  = 136
	opUMod                  = 137
	opIAddCarry             = 149
	opISubBorrow            = 150
	opUMulExtended          = 151
	opAny                   = 154
	opAll                   = 155
	opLogicalEqual          = 164
	opLogicalNotEqual       = 165
	opLogicalOr             = 166
	opLogicalAnd            = 167
	opLogicalNot            = 168
	opSelect                = 169
	opIEqual                = 170
	opINotEqual             = 171
	opUGreaterThan          = 172
	opSGreaterThan          = 173
	opUGreaterThanEqual     = 174
	opSGreaterThanEqual     = 175
	opULessThan             = 176
	opSLessThan             = 177
	opULessThanEqual        = 178
	opSLessThanEqual        = 179
	opFOrdEqual             = 180
	opFUnordNotEqual        = 183
	opFOrdLessThan          = 184
	opFOrdGreaterThan       = 186
	opFOrdLessThanEqual     = 188
	opFOrdGreaterThanEqual  = 190
	opShiftRightLogical     = 194
	opShiftRightArithmetic  = 195
	opShiftLeftLogical      = 196
	opBitwiseOr             = 197
	opBitwiseXor            = 198
	opBitwiseAnd            = 199
	opNot                   = 200
	opBitCount              = 205
	opControlBarrier        = 224
	opMemoryBarrier         = 225
	opAtomicExchange        = 229
	opAtomicCompareExchange = 230
	opAtomicIAdd            = 234
	opAtomicUMin            = 237
	opAtomicUMax            = 239
	opAtomicAnd             = 240
	opAtomicOr              = 241
	opAtomicXor             = 242
	opPhi                   = 245
	opLoopMerge             = 246
	opSelectionMerge        = 247
	opLabel                 = 248
	opBranch                = 249
	opBranchConditional     = 250
	opSwitch                = 251
	opReturn                = 253
	opReturnValue           = 254
	opUnreachable           = 255
	opGroupElect            = 333
	opGroupAll              = 334
	opGroupAny              = 335
	opGroupBroadcast        = 337
	opGroupBallot           = 339
	opGroupBallotBitCount   = 342
	opGroupBallotFindLSB    = 343
	opGroupBallotFindMSB    = 344
	opGroupShuffle          = 345
	opGroupShuffleXor       = 346
	opGroupIAdd             = 349
	opGroupUMax             = 357
)

// Numbers of the extended instructions of GLSL.
const (
	extFMin     = 37
	extUMin     = 38
	extSMin     = 39
	extFMax     = 40
	extUMax     = 41
	extSMax     = 42
	extFindILsb = 73
	extFindUMsb = 75
)

const (
	storageInput     = 1
	storageWorkgroup = 4
	storagePrivate   = 6
	storageFunction  = 7
	storagePush      = 9
	storagePhysical  = 5349

	decorationSpecID      = 1
	decorationArrayStride = 6
	decorationBuiltIn     = 11
	decorationVolatile    = 21

	builtInWorkgroupSize     = 25
	builtInWorkgroupID       = 26
	builtInLocalInvocationID = 27
	builtInSubgroupSize      = 36
	builtInNumSubgroups      = 38
	builtInSubgroupID        = 40
	builtInSubgroupLocalID   = 41
	builtInSubgroupLtMask    = 4420

	scopeSubgroup = 3

	semanticsUniformMemory   = 0x40
	semanticsWorkgroupMemory = 0x100

	loopControlUnroll = 1

	groupReduce        = 0
	groupExclusiveScan = 2
)
