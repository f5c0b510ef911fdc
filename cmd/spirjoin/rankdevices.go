package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/cluster/mpi"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/text"
)

// rankDevices is what a rank says of its devices and cores.
type rankDevices struct {
	Keys      []string // of its devices, equal on one node for the same device
	Cores     int      // on which the rank may run
	NodeCores int      // on which its launcher may run; 0 if unknown
}

// chooseDevices chooses the devices of this rank by its number on its node, if the command line names none, and divides
// the memory of a device that several ranks open. failed is why this rank sees no devices, if it does not. It is
// collective.
func (o *joinOptions) chooseDevices(ctx context.Context, system *spirjoin.System, failed error) error {
	mine := rankDevices{Cores: runtime.NumCPU(), NodeCores: mpi.LauncherCores()}
	var infos []*backend.DeviceInfo
	if failed == nil {
		infos, failed = o.devicesOf(system.Devices)
	}
	for _, info := range infos {
		mine.Keys = append(mine.Keys, deviceKey(info))
	}
	all, err := command.Agree(ctx, o.job, "devices", mine, failed)
	if err != nil {
		return err
	}
	o.coreWarnings = coreWarnings(o.job, all)
	sharers := uint64(0) // of a device with the most
	for _, key := range mine.Keys {
		n := uint64(0)
		for _, rank := range cluster.NodeRanks(o.job, o.job.Rank()) {
			n += uint64(count(all[rank].Keys, key))
		}
		sharers = max(sharers, n)
	}
	if o.deviceMemoryBytes == 0 && sharers > 1 {
		for _, info := range infos {
			_, budget := info.MemoryBytes()
			share := max(1, budget/5*4/sharers)
			if o.deviceMemoryBytes == 0 || share < o.deviceMemoryBytes {
				o.deviceMemoryBytes = share
			}
		}
	}
	return nil
}

// devicesOf returns the devices that this rank opens. If the command line names none, ranks of a node take the devices
// that are as good as the best one in turn.
func (o *joinOptions) devicesOf(devices []backend.DeviceInfo) (infos []*backend.DeviceInfo, err error) {
	for _, name := range o.devices {
		info, err := backend.SelectDevice(devices, name)
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	if !slices.Equal(o.devices, []string{"auto"}) || infos[0].Type == backend.Host {
		return infos, nil
	}
	best := infos[0]
	infos = infos[:0]
	for i := range devices {
		if d := &devices[i]; d.Type == best.Type && d.Backend == best.Backend && d.Unusable == "" && d.TwinOf == "" {
			infos = append(infos, d)
		}
	}
	local := slices.Index(cluster.NodeRanks(o.job, o.job.Rank()), o.job.Rank())
	infos = []*backend.DeviceInfo{infos[local%len(infos)]}
	o.devices = []string{infos[0].ID}
	return infos, nil
}

// deviceKey is equal for drivers of one device, and differs for two devices of a node.
func deviceKey(d *backend.DeviceInfo) string {
	if d.TwinOf != "" {
		return d.TwinOf
	}
	return d.ID
}

func count(keys []string, key string) (n int) {
	for _, k := range keys {
		if k == key {
			n++
		}
	}
	return n
}

// coreWarnings tells of the first rank whose launcher leaves it fewer cores than its share of the node.
func coreWarnings(job spirjoin.Job, all []rankDevices) []error {
	for rank, of := range all {
		ranks := len(cluster.NodeRanks(job, rank))
		if share := of.NodeCores / ranks; of.Cores < share {
			return []error{fmt.Errorf("rank %d may use %s, its share of %d is %d; have mpirun --bind-to none", rank,
				text.Plural(of.Cores, "core"), of.NodeCores, share)}
		}
	}
	return nil
}
