package ranks

import (
	"fmt"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/exchange/codec"
	"github.com/spirjoin/spirjoin/exchange/shuffle"
	"github.com/spirjoin/spirjoin/exec"
)

// Codec is where columns are encoded that go to other ranks, and decoded that come. Ranks need not have the same.
type Codec uint8

const (
	// CodecAuto encodes what takes less time to encode, send and decode than to send as it is: on a GPU, otherwise on
	// the host if there are ranks on other nodes or the rate of the link is given. Within a node the host never
	// encodes, because the codec takes more time of its cores than the copy.
	CodecAuto Codec = iota
	CodecOff
	CodecHost   // whatever becomes smaller is encoded on the host
	CodecDevice // likewise on the first device of the engine
)

// mostCoderBytes is the device memory of the codec: pieces of 80 MiB are encoded at a time.
const mostCoderBytes = 1 << 30

// coderShare is the inverse of the share of device memory that the codec takes if nobody asked for it.
const coderShare = 16

// coderRuns says where the codec of this rank runs, and the device memory that it takes there. The error is
// backend.ErrDeviceMemory if a device was asked for and has too little.
func (r *run) coderRuns() (at Codec, deviceBytes uint64, err error) {
	at, device := r.Codec, r.Joins.Device()
	mostBytes := r.Joins.DeviceCapBytes() / coderShare
	if at == CodecDevice {
		mostBytes = r.Joins.DeviceCapBytes() / exchangeShare
	}
	if limitBytes := r.Joins.HostCapBytes(); limitBytes != exec.Unlimited && device.Info().InHostMemory() {
		mostBytes = min(mostBytes, limitBytes/exchangeShare/2)
	}
	deviceBytes = min(mostBytes, mostCoderBytes)
	if at == CodecAuto {
		switch {
		case r.job.Size() == 1:
			at = CodecOff
		case !device.Info().CPULike() && deviceBytes >= codec.LeastDeviceBytes:
			at = CodecDevice
		case r.LinkBytesPerSecond > 0 || r.totals.nodes > 1:
			at = CodecHost
		default:
			at = CodecOff
		}
	}
	if at != CodecDevice {
		return at, 0, nil
	}
	if deviceBytes < codec.LeastDeviceBytes {
		return at, 0, &backend.OpError{Op: "distributed join", Device: device.Info().Name, Err: backend.ErrDeviceMemory,
			Detail: fmt.Sprintf("%d bytes for the codec, which takes %d; raise the memory limit, or encode on the host",
				deviceBytes, codec.LeastDeviceBytes)}
	}
	return at, deviceBytes, nil
}

// coding returns how columns travel if the codec runs there, with device memory that the run has acquired.
func (r *run) coding(at Codec, deviceBytes uint64) shuffle.Coding {
	c := shuffle.Coding{Forced: r.Codec == CodecHost || r.Codec == CodecDevice,
		LinkBytesPerSecond: r.LinkBytesPerSecond}
	switch at {
	case CodecHost:
		c.Coder = codec.Host{Sharers: len(cluster.NodeRanks(r.job, r.job.Rank()))}
	case CodecDevice:
		c.Coder = codec.NewDevice(r.Joins.Ops, r.grant, deviceBytes)
	}
	return c
}
