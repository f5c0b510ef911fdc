package shuffle

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/exchange/codec"
	"github.com/spirjoin/spirjoin/exec"
	"github.com/spirjoin/spirjoin/internal/devicetest"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/primitive"
	"github.com/spirjoin/spirjoin/relation/relationtest"
)

const allLayers = kernel.CascadeRLE | kernel.CascadeDelta | kernel.CascadePack

// encodeAll returns rows with all columns of words encoded, whether they become smaller or not.
func encodeAll(t testing.TB, f *format, alloc memory.Allocator, coder codec.Coder, rows arrow.RecordBatch) *parcel {
	c := &compressor{Side: &Side{Options: Options{Alloc: alloc, Coding: Coding{Coder: coder}}, format: f}, left: 1000}
	for range f.columns {
		c.choices = append(c.choices, codec.Choice{Coded: true, Scheme: allLayers})
	}
	parcels, err := c.parcels(t.Context(), []arrow.RecordBatch{rows}, func(int) bool { return true })
	require.NoError(t, err)
	return parcels[0]
}

// withCoders runs test with the host coder and with one of each device.
func withCoders(t *testing.T, test func(t *testing.T, coder codec.Coder)) {
	t.Run("coder=host", func(t *testing.T) { test(t, codec.Host{}) })
	devicetest.ForEach(t, func(t *testing.T, device *backend.Device) {
		ops, err := primitive.New(device, nil)
		require.NoError(t, err)
		sizes := map[*backend.Device]uint64{device: codec.LeastDeviceBytes}
		budget := exec.NewBudget(exec.Need{Device: sizes, Host: exec.Unlimited})
		grant, err := budget.Acquire(t.Context(), exec.Need{Device: sizes})
		require.NoError(t, err)
		defer grant.Release()
		test(t, codec.NewDevice(ops, grant, codec.LeastDeviceBytes))
	})
}

// TestWireEncoded: rows of every type arrive as they were sent with all words encoded, also slices that begin anywhere.
func TestWireEncoded(t *testing.T) {
	withCoders(t, func(t *testing.T, coder codec.Coder) {
		alloc := memory.NewCheckedAllocator(relationtest.Dirty{Allocator: memory.DefaultAllocator})
		defer alloc.AssertSize(t, 0)
		for _, nulls := range []float64{0, 0.3, 1} {
			whole := rich(t, 1, 50, nulls, types)
			f := newFormat(whole.Schema())
			e, d := newEncoder(f, alloc), newDecoder(f, alloc, coder)
			for _, cut := range [][2]int64{{0, 50}, {8, 27}, {3, 4}, {13, 50}, {5, 5}} {
				rows := whole.NewSlice(cut[0], cut[1])
				p := encodeAll(t, f, alloc, coder, rows)
				coded := 0
				for _, b := range p.coded {
					if b != nil {
						coded++
					}
				}
				if rows.NumRows() > 0 {
					require.Equal(t, wordColumns(f), coded)
				}
				m, err := e.encode(p)
				require.NoError(t, err)
				got, err := carry(d, m.head, m.body)
				require.NoError(t, err, "rows %d, NULLs %g", cut, nulls)
				require.True(t, array.RecordEqual(rows, got), "%s\n%s", rows, got)
				got.Release()
				m.Release()
				p.Release()
				rows.Release()
			}
			e.Release()
			d.Release()
		}
	})
}

func wordColumns(f *format) (count int) {
	for _, c := range f.columns {
		if c.array.words {
			count++
		}
	}
	return count
}

// TestWordColumns: which types have words that may be encoded.
func TestWordColumns(t *testing.T) {
	for dt, want := range map[arrow.DataType]int{arrow.PrimitiveTypes.Int64: 1, arrow.PrimitiveTypes.Float32: 1,
		arrow.FixedWidthTypes.Date32: 1, arrow.FixedWidthTypes.Timestamp_us: 1, arrow.BinaryTypes.String: 1,
		arrow.BinaryTypes.LargeString: 1, arrow.PrimitiveTypes.Int16: 0, types[12]: 0, types[17]: 0, types[18]: 1,
		arrow.FixedWidthTypes.Boolean: 0, arrow.Null: 0, arrow.ListOf(arrow.PrimitiveTypes.Int32): 0} {
		f := newFormat(arrow.NewSchema([]arrow.Field{{Name: "c", Type: dt}}, nil))
		require.Equal(t, want, wordColumns(f), "%s", dt)
	}
}

// FuzzEncoded changes a message with encoded columns: a byte of the head or of a buffer, whose checksum is made right
// again if seal is set, or its length. It is refused, or its rows can be read.
func FuzzEncoded(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 400 {
		f.Add(uint8(random.IntN(8)), random.Uint32(), uint8(1<<random.IntN(8)), random.IntN(2) == 0)
	}
	of := []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String, types[18]}
	rows := rich(f, 1, 3000, 0.1, of)
	format := newFormat(rows.Schema())
	p := encodeAll(f, format, memory.DefaultAllocator, codec.Host{}, rows)
	defer p.Release()
	e := newEncoder(format, memory.DefaultAllocator)
	defer e.Release()
	m, err := e.encode(p)
	require.NoError(f, err)
	defer m.Release()
	f.Fuzz(func(t *testing.T, what uint8, at uint32, by uint8, seal bool) {
		alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
		defer alloc.AssertSize(t, 0)
		head, body := slices.Clone(m.head), [][]byte{}
		for _, b := range m.body {
			body = append(body, slices.Clone(b))
		}
		if what == 0 {
			head[int(at)%len(head)] ^= by
		} else {
			b := body[int(at)%len(body)]
			b[int(at>>8)%len(b)] ^= by
			if header, err := codec.Open(m.body[int(at)%len(body)]); err == nil && seal {
				codec.Seal(b, header.ValueBytes, header.Rows)
			}
		}
		if what == 1 {
			body[0] = body[0][:int(at)%len(body[0])]
		}
		d := newDecoder(format, alloc, codec.Host{})
		defer d.Release()
		got, err := carry(d, head, body)
		if err != nil {
			require.ErrorIs(t, err, backend.ErrInvalidInput)
			return
		}
		defer got.Release()
		for _, c := range got.Columns() {
			for i := range c.Len() {
				_ = c.ValueStr(i)
			}
		}
	})
}

// TestEncodedLies: what a message must not say of encoded words.
func TestEncodedLies(t *testing.T) {
	rows := rich(t, 1, 2000, 0, []arrow.DataType{arrow.PrimitiveTypes.Int32})
	f := newFormat(rows.Schema())
	p := encodeAll(t, f, memory.DefaultAllocator, codec.Host{}, rows)
	defer p.Release()
	encoded := p.coded[0].Bytes()
	head := func(rows, codedBytes int) []byte {
		var m message
		m.put(rows)
		m.put(0)
		m.put(codedBytes)
		return m.head
	}
	flipped := slices.Clone(encoded)
	flipped[len(flipped)-1] ^= 1
	for name, c := range map[string]struct {
		head []byte
		body []byte
		want string
	}{
		"fewer rows":           {head(1999, len(encoded)), encoded, "2000 encoded words"},
		"more rows":            {head(2048, len(encoded)), encoded, "2000 encoded words"},
		"no rows":              {head(0, len(encoded)), encoded, "0 encoded words"},
		"bytes for few blocks": {head(1<<31, len(encoded)), encoded, "encoded words"},
		"too many bytes":       {head(2000, 1<<30), encoded, "encoded words"},
		"no whole words":       {head(2000, len(encoded)-1), encoded[:len(encoded)-1], "encoded words"},
		"cut":                  {head(2000, len(encoded)-4), encoded[:len(encoded)-4], "instead of"},
		"a flipped bit":        {head(2000, len(encoded)), flipped, "CRC"},
	} {
		t.Run(name, func(t *testing.T) {
			alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer alloc.AssertSize(t, 0)
			d := newDecoder(f, alloc, codec.Host{})
			defer d.Release()
			_, err := carry(d, c.head, [][]byte{c.body})
			require.ErrorIs(t, err, backend.ErrInvalidInput)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// TestMoveEncoded: an exchange whose columns are encoded moves the same rows, whoever encodes.
func TestMoveEncoded(t *testing.T) {
	all := shares(3)
	sorted := func(found []moved) (rows [][2]int64) {
		for _, m := range found {
			require.NoError(t, m.err)
			rows = append(rows, m.rows...)
		}
		slices.SortFunc(rows, func(a, b [2]int64) int { return slices.Compare(a[:], b[:]) })
		return rows
	}
	for _, toAll := range []bool{false, true} {
		set := func(o *Options, coding Coding) {
			if o.Coding, o.BlockBytes = coding, 1<<20; toAll {
				o.Divider = nil
			}
		}
		want := sorted(move(t, all, func(_ int, o *Options) { set(o, Coding{}) }))
		withCoders(t, func(t *testing.T, coder codec.Coder) {
			found := move(t, all, func(_ int, o *Options) { set(o, Coding{Coder: coder, Forced: true}) })
			require.Equal(t, want, sorted(found))
			var sum Stats
			for _, m := range found {
				sum.SentBytes += m.stats.SentBytes
				sum.RawBytes += m.stats.RawBytes
				sum.HostEncodedBytes += m.stats.HostEncodedBytes
				sum.DeviceEncodedBytes += m.stats.DeviceEncodedBytes
			}
			require.Less(t, sum.SentBytes, sum.RawBytes)
			require.Equal(t, coder.OnDevice(), sum.DeviceEncodedBytes > 0)
			require.Equal(t, coder.OnDevice(), sum.HostEncodedBytes == 0)
		})
	}
}

// TestMemoryEncoded is TestMemory with columns that are encoded.
func TestMemoryEncoded(t *testing.T) {
	const rows, blockBytes = 60_000, 16 << 10
	share := make([]int64, rows)
	for i := range share {
		share[i] = int64(i)
	}
	for _, all := range []bool{false, true} {
		peaks := make([]peak, 3)
		for _, m := range move(t, [][]int64{share, share, share}, func(rank int, o *Options) {
			peaks[rank].Allocator = o.Alloc
			o.BlockBytes, o.Alloc, o.Coding = blockBytes, &peaks[rank], Coding{Coder: codec.Host{}, Forced: true}
			if all {
				o.Divider = nil
			}
		}) {
			require.NoError(t, m.err)
			require.Positive(t, m.stats.HostEncodedBytes)
		}
		for rank := range peaks {
			t.Logf("rank %d: %d blocks", rank, peaks[rank].most.Load()/blockBytes)
			require.Less(t, peaks[rank].most.Load(), int64(CodedBlocksHeld*blockBytes))
		}
	}
}

// TestChoose: a column is encoded where that takes less time, and nothing is before the rate of the link is known.
func TestChoose(t *testing.T) {
	rows := rich(t, 1, 3000, 0, []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64})
	for name, c := range map[string]struct {
		link  float64
		coded []bool
	}{"unknown": {0, nil}, "slow": {1e5, []bool{true, true}}, "fast": {1e14, nil}} {
		t.Run(name, func(t *testing.T) {
			side := &Side{Options: Options{Alloc: memory.DefaultAllocator,
				Coding: Coding{Coder: codec.Host{}, LinkBytesPerSecond: c.link}}, format: newFormat(rows.Schema())}
			compressor := &compressor{Side: side}
			parcels, err := compressor.parcels(t.Context(), []arrow.RecordBatch{rows}, func(int) bool { return true })
			require.NoError(t, err)
			defer parcels[0].Release()
			var coded []bool
			for _, choice := range compressor.choices {
				coded = append(coded, choice.Coded)
			}
			require.Equal(t, c.coded, coded)
			require.Equal(t, c.link > 0, compressor.left == leastBlocks-1, "the next block tries again")
		})
	}
}

// TestLink: the rate of the fastest message counts, times the number of those that were under way with it.
func TestLink(t *testing.T) {
	var l link
	now := time.Now()
	after := func(seconds float64) time.Time { return now.Add(time.Duration(seconds * float64(time.Second))) }
	require.Zero(t, l.bytesPerSecond())
	l.end(after(0), l.begin(after(0)), after(1), 1000)
	require.Zero(t, l.bytesPerSecond(), "too small to tell")
	l.end(after(1), l.begin(after(1)), after(2), 1e6)
	require.InEpsilon(t, 1e6, l.bytesPerSecond(), 1e-6)
	l.end(after(2), l.begin(after(2)), after(9), 1e6)
	require.InEpsilon(t, 1e6, l.bytesPerSecond(), 1e-6, "the receiver was busy")
	first, second := l.begin(after(10)), l.begin(after(10))
	l.end(after(10), first, after(11), 2e6)
	l.end(after(10), second, after(11), 2e6)
	require.InEpsilon(t, 4e6, l.bytesPerSecond(), 1e-6, "both at once")
}
