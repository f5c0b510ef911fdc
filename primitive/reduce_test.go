package primitive_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
)

// folds are the operations of a reduction with what no values give.
var folds = map[kernel.ReduceOp]struct {
	nothing uint64
	fold    func(a, b uint64) uint64
}{
	kernel.ReduceSum: {0, func(a, b uint64) uint64 { return a + b }},
	kernel.ReduceMin: {math.MaxUint64, func(a, b uint64) uint64 { return min(a, b) }},
	kernel.ReduceMax: {0, func(a, b uint64) uint64 { return max(a, b) }},
	kernel.ReduceAnd: {math.MaxUint64, func(a, b uint64) uint64 { return a & b }},
	kernel.ReduceOr:  {0, func(a, b uint64) uint64 { return a | b }},
}

func TestReduce(t *testing.T) {
	forEach(t, func(r rig) {
		random := rand.New(rand.NewPCG(1, 2))
		for _, rows := range r.sizesAround("reduce") {
			in, in64 := make([]uint32, rows), make([]uint64, rows)
			for i := range in { // with bits that all have and that none has
				in[i] = random.Uint32()&^0x10 | 0x20
				in64[i] = random.Uint64()&^(1<<40) | 1<<50
			}
			for op := range folds {
				reduce[uint32, uint32](r, op, in)
				reduce[uint32, uint64](r, op, in)
				reduce[uint64, uint64](r, op, in64)
			}
			varyingBits(r, in)
			varyingBits(r, in64)
			slices.Sort(in)
			slices.Sort(in64)
			varyingBits(r, in)
			varyingBits(r, in64)
		}
	})
}

func bitsOf[T uint32 | uint64](T) int {
	if T(math.MaxUint32)+1 == 0 {
		return 32
	}
	return 64
}

func reduce[V, S uint32 | uint64](r rig, op kernel.ReduceOp, in []V) {
	want := S(folds[op].nothing)
	for _, v := range in {
		want = S(folds[op].fold(uint64(want), uint64(v)))
	}
	p, err := primitive.PlanReduce(r.ops.Tuning(), op, uint64(len(in)), bitsOf(V(0)), bitsOf(S(0)))
	require.NoError(r, err)
	src, scratch := column(r, in), r.empty(p.ScratchBytes)
	r.run(func(list *backend.List) error { return r.ops.Reduce(list, p, src.All(), scratch.All()) })
	got := values[S](r, scratch.Range(p.ResultOffset, uint64(p.SumBits/8)), 1)
	require.Equal(r, []S{want}, got, "operation %d of %d rows, %d to %d bits", op, len(in), p.InBits, p.SumBits)
}

func varyingBits[K uint32 | uint64](r rig, keys []K) {
	and, or, wantDescents := ^K(0), K(0), 0
	for i, key := range keys {
		and, or = and&key, or|key
		if i > 0 && key < keys[i-1] {
			wantDescents++
		}
	}
	p, err := primitive.PlanVaryingBits(r.ops.Tuning(), uint64(len(keys)), bitsOf(K(0))/8)
	require.NoError(r, err)
	src, scratch := column(r, keys), r.empty(p.ScratchBytes)
	r.run(func(list *backend.List) error { return r.ops.VaryingBits(list, p, src.All(), scratch.All()) })
	varying, descents := p.Found(values[byte](r, scratch.All(), int(p.ScratchBytes)))
	require.EqualValues(r, or&^and, varying, "%d rows", len(keys))
	require.EqualValues(r, wantDescents, descents, "%d rows", len(keys))
}

func TestPlanReduceRefuses(t *testing.T) {
	tuning := primitive.Override(backend.Config{"workgroup": 8, "items": 2})
	_, err := primitive.PlanReduce(tuning, kernel.ReduceOr+1, 5, 32, 32)
	require.ErrorIs(t, err, backend.ErrInvalidInput)
	_, err = primitive.PlanReduce(tuning, kernel.ReduceSum, primitive.MaxRows+1, 32, 32)
	require.ErrorIs(t, err, backend.ErrLimit)
	_, err = primitive.PlanVaryingBits(tuning, primitive.MaxRows+1, 4)
	require.ErrorIs(t, err, backend.ErrLimit)
}
