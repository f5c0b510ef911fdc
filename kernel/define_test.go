package kernel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/host"
	"github.com/spirjoin/spirjoin/kernel"
)

type sides struct {
	LeftIDs  []byte    `access:"read"`
	Payload  [2][]byte `access:"write"`
	TileSums []byte    `access:"readwrite"`
}

func TestArgumentsFollowFromTheStruct(t *testing.T) {
	args, params := kernel.ArgumentsOf[struct {
		sides
		Lost     []byte `access:"accumulate"`
		OutRows  uint32
		Shifts   [3]uint32
		FirstRow uint32
	}]()
	require.Equal(t, []backend.ArgSpec{
		{Name: "left_ids", Access: backend.Read},
		{Name: "payload", Access: backend.Write}, {Name: "payload_2", Access: backend.Write},
		{Name: "tile_sums", Access: backend.ReadWrite}, {Name: "lost", Access: backend.Accumulate},
	}, args)
	require.Equal(t, []string{"out_rows", "shifts", "shifts_2", "shifts_3", "first_row"}, params)
}

func TestWrongArgumentsPanic(t *testing.T) {
	type padded struct {
		Keys []byte `access:"read"`
		Rows uint32
	}
	for message, declare := range map[string]func(){
		"a gap before First": func() {
			kernel.ArgumentsOf[struct {
				padded
				First, End uint32
			}]()
		},
		"buffer Keys comes after a parameter": func() {
			kernel.ArgumentsOf[struct {
				First, Last uint32
				Keys        []byte `access:"read"`
			}]()
		},
		`buffer Keys has access ""`: func() { kernel.ArgumentsOf[struct{ Keys []byte }]() },
		`buffer Keys has access "reads"`: func() {
			kernel.ArgumentsOf[struct {
				Keys []byte `access:"reads"`
			}]()
		},
		"Rows is neither a buffer nor a uint32": func() { kernel.ArgumentsOf[struct{ Rows uint16 }]() },
	} {
		require.Contains(t, panicOf(declare), message)
	}
}

func TestSettingsFollowFromTheStruct(t *testing.T) {
	require.Equal(t, []string{"key_bits", "serial", "workgroup", "items", "left_words_2"}, kernel.SettingsOf[struct {
		KeyBits uint32 `axis:"32,64"`
		kernel.ShapedTile
		LeftWords2 uint32
	}]())
	require.Contains(t, panicOf(func() {
		kernel.SettingsOf[struct {
			KeyBits uint32 `axis:"32;64"`
		}]()
	}), `axis "32;64"`)
	require.Contains(t, panicOf(func() { kernel.SettingsOf[struct{ Wide bool }]() }), "Wide is not a uint32")
}

func panicOf(f func()) (message string) {
	defer func() { message, _ = recover().(string) }()
	f()
	return "no panic"
}

func TestSnake(t *testing.T) {
	for field, name := range map[string]string{
		"Keys": "keys", "LeftIDs": "left_ids", "PayloadIn2": "payload_in_2", "IDs": "ids",
	} {
		require.Equal(t, name, kernel.Snake(field))
	}
}

func TestWithIgnoresSettingsOfOthers(t *testing.T) {
	config := kernel.Gather.With(backend.Config{"key_bits": 64, "items": 3})
	require.Equal(t, kernel.GatherConfig{Tile: kernel.Tile{Workgroup: 256, Items: 3}}, config)
	config.Items = 5
	require.EqualValues(t, 3, kernel.Gather.With(backend.Config{"items": 3}).Items, "configurations share nothing")
}

func hostDevice(t *testing.T) *backend.Device {
	driver, err := host.New(host.Options{}).Open("host:cpu")
	require.NoError(t, err)
	return openDevice(t, driver)
}

func TestOnCompilesOncePerConfiguration(t *testing.T) {
	device := hostDevice(t)
	config := kernel.Gather.With(backend.Config{"value_bits": 32})
	one, err := kernel.Gather.On(device, config)
	require.NoError(t, err)
	again, err := kernel.Gather.On(device, config)
	require.NoError(t, err)
	require.Same(t, one.Kernel, again.Kernel)
	config.ValueBits = 64
	wide, err := kernel.Gather.On(device, config)
	require.NoError(t, err)
	require.NotSame(t, one.Kernel, wide.Kernel)
	require.Equal(t, backend.Config{"value_bits": 64, "workgroup": 256, "items": 8}, wide.Config)
	config.ValueBits = 16
	_, err = kernel.Gather.On(device, config)
	require.ErrorIs(t, err, backend.ErrInvalidInput)
}

// plainDriver is a driver without subgroup operations.
type plainDriver struct{ backend.Driver }

func (d plainDriver) Info() *backend.DeviceInfo {
	info := *d.Driver.Info()
	info.Subgroups = false
	return &info
}

func TestOnSharesWithoutSubgroups(t *testing.T) {
	driver, err := host.New(host.Options{}).Open("host:cpu")
	require.NoError(t, err)
	plain := openDevice(t, plainDriver{driver})
	join := kernel.PartitionJoin.With(nil)
	join.KeyBits = 32
	scan := kernel.ScanTiles.With(nil)
	scan.InBits, scan.SumBits = 32, 32
	for device, want := range map[*backend.Device]uint32{plain: 1, hostDevice(t): 0} {
		joins, err := kernel.PartitionJoin.On(device, join)
		require.NoError(t, err)
		require.Equal(t, want, joins.Config["shared"])
		for serial := range uint32(2) {
			scan.Serial = serial
			scans, err := kernel.ScanTiles.On(device, scan)
			require.NoError(t, err)
			require.Equal(t, want*(1-serial), scans.Config["shared"])
		}
		_, err = kernel.Iota.On(device, kernel.Iota.With(nil))
		require.NoError(t, err)
	}
	require.Zero(t, join.Shared)
}

func TestDispatchKeepsTheOrderOfFields(t *testing.T) {
	device := hostDevice(t)
	k, err := kernel.Copy.On(device, kernel.Copy.With(nil))
	require.NoError(t, err)
	b, err := device.Allocate(t.Context(), backend.DeviceLocal, 64, "test")
	require.NoError(t, err)
	defer b.Release()
	args := kernel.CopyArgs{
		Source: b.Range(0, 16), Destination: b.Range(32, 16), Rows: 3, SourceFirst: 1, DestinationFirst: 2,
	}
	var list backend.List
	k.Dispatch(&list, 0, args)
	require.Empty(t, list.Commands, "no workgroups, no command")
	k.Dispatch(&list, 7, args)
	require.Len(t, list.Commands, 1)
	command := list.Commands[0]
	require.Equal(t, []backend.Range{args.Source, args.Destination}, command.Args)
	require.Equal(t, []uint32{3, 1, 2}, command.Params)
	require.EqualValues(t, 7, command.EndGroup)
}
