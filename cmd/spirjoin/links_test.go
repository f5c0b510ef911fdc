package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/golden"
)

func TestLinks(t *testing.T) {
	var reports []linkReport
	out := tested.Require(t, command.ExitDone, "devices", "--links", "--device", "host, host", "--json").Stdout
	require.NoError(t, json.Unmarshal([]byte(out), &reports))
	require.Len(t, reports, 2, "both directions")
	for _, r := range reports {
		require.Equal(t, "shared allocation", r.Path)
		require.Positive(t, r.BytesPerSecond)
		require.Empty(t, r.Error)
	}
	forced := tested.Require(t, command.ExitDone, "devices", "--links", "--device", "host,host", "--path",
		"host-staged").Stdout
	require.Regexp(t, `^FROM +TO +PATH +RATE\n(\d+ .* +host staged +[\d.]+ .B/s\n){2}$`, forced)
	all := tested.Require(t, command.ExitDone, "devices", "--links", "--device", "host,host", "--path", "all").Stdout
	require.Regexp(t, `driver copy +none\n   connect: .*no other driver`, all)
	require.Regexp(t, `imported host +[\d.]+ .B/s\n`, all)
	best := tested.Require(t, command.ExitDone, "devices", "--links", "--device", "host,host").Stdout
	for _, text := range []string{all, best} {
		require.Regexp(t, `\ndma-buf: off by default; --path dma-buf forces it\n$`, text)
		require.NotRegexp(t, `(?m)dma-buf +(none|[\d.]+ .B/s)$`, text, "it is not tried")
	}
	require.NotContains(t, forced, "off by default")
	o := tested.Require(t, command.ExitNoDevice, "devices", "--links", "--device", "host,host", "--path", "dma-buf")
	require.Contains(t, o.Stdout, "no dma-buf", "no link at all")

	require.Contains(t, tested.Require(t, command.ExitUsage, "devices", "--links", "--device", "host").Stderr,
		"--device 0,0")
	require.Contains(t, tested.Require(t, command.ExitUsage, "devices", "--links", "--path", "mail").Stderr,
		"imported host")
	require.Contains(t, tested.Require(t, command.ExitUsage, "devices", "--path", "all").Stderr, "--links")
	require.Contains(t, tested.Require(t, command.ExitNoDevice, "devices", "--links", "--device", "host,abacus").Stderr,
		"abacus")
	o = tested.Require(t, command.ExitNoDevice, "devices", "--links", "--device", "host,host", "--path", "driver-copy")
	require.Contains(t, o.Stderr, "no other driver copies", "no link at all")
}

func TestWriteLinks(t *testing.T) {
	devices := []backend.DeviceInfo{{Name: "NVIDIA H200"}, {Name: "NVIDIA H200"}, {Name: "AMD EPYC\x1b7B13"}}
	hidden := "join: unsupported (the GPU is hidden from CUDA)"
	lied := errors.New("the pattern did not arrive")
	var b bytes.Buffer
	writeLinks(&b, devices, []linkReport{
		{From: 0, To: 1, Path: "driver copy", BytesPerSecond: 387e9},
		{From: 1, To: 2, Path: "imported host", BytesPerSecond: 9.96e9},
		{From: 1, To: 0, Path: "driver copy", BytesPerSecond: 79.7e9, Indirect: hidden},
		{From: 2, To: 0, Path: "host staged", Error: lied.Error(), err: lied},
	})
	golden.Require(t, "links.txt", b.String())
}
