//go:build linux

package mpi

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/cluster/clustertest"
)

// agent starts a command on a host as ssh would: agent [options] 10.77.0.N command. Each host has its own network, name
// and shared memory; %[1]s is the prefix of the names of network namespaces.
const agent = `#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=${1##*.}; shift
exec ip netns exec %[1]s$host unshare --uts --ipc sh -c 'hostname host'$host'; exec sh -c "$1"' sh "$*"
`

// hosts makes two hosts, 10.77.0.1 and 10.77.0.2, of network namespaces that a bridge connects. It returns an Open MPI
// whose ranks are on both, half of them on each.
func hosts(t *testing.T) runner {
	t.Helper()
	if testing.Short() {
		t.Skip("two hosts are for long runs")
	}
	for _, needed := range []string{"ip", "unshare"} {
		if _, err := exec.LookPath(needed); err != nil || os.Geteuid() != 0 {
			t.Skip("two hosts need root, ip and unshare")
		}
	}
	name := fmt.Sprintf("sj%d-", os.Getpid()%10000)
	ip := func(format string, a ...any) {
		command := "ip " + fmt.Sprintf(format, a...)
		said, err := exec.Command("sh", "-c", command).CombinedOutput()
		require.NoError(t, err, "%s: %s", command, said)
	}
	ip("link add %sbr type bridge", name)
	t.Cleanup(func() { ip("link del %sbr", name) })
	ip("link set %sbr up", name)
	for host := 1; host <= 2; host++ {
		ip("netns add %s%d", name, host)
		t.Cleanup(func() { ip("netns del %s%d", name, host) })
		ip("link add %sv%d type veth peer name eth0 netns %[1]s%[2]d", name, host)
		ip("link set %sv%d master %[1]sbr up", name, host)
		ip("-n %s%d addr add 10.77.0.%[2]d/24 dev eth0", name, host)
		ip("-n %s%d link set eth0 up", name, host)
		ip("-n %s%d link set lo up", name, host)
	}
	path := filepath.Join(t.TempDir(), "agent")
	require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, agent, name), 0o755))
	for _, r := range runners(t) {
		if r.name != openMPI.name {
			continue
		}
		// The launcher is on the first host.
		r.command = append([]string{"ip", "netns", "exec", name + "1", "unshare", "--uts", "--ipc", "sh", "-c",
			`hostname host1; exec "$@"`, "sh"}, r.command...)
		r.command = append(r.command, "--mca", "plm_rsh_agent", path, "--mca", "btl", "tcp,vader,self",
			"--host", "10.77.0.1:2,10.77.0.2:2", "--map-by", "node")
		for _, variable := range []string{programVariable, jobVariable} {
			r.command = append(r.command, "-x", variable)
		}
		return r
	}
	t.Skip("Open MPI is not installed")
	return runner{}
}

// twoHosts checks that half of the ranks are on another node, and runs the suite.
func twoHosts(ctx context.Context, job cluster.Job) error {
	nodes := job.Nodes()
	for rank, node := range nodes {
		if (node == nodes[0]) != (rank%2 == 0) {
			return fmt.Errorf("ranks are on nodes %v", nodes)
		}
	}
	if err := clustertest.Run(ctx, job, clustertest.Contract); err != nil {
		return err
	}
	if job.Rank() == 0 {
		fmt.Println("contract kept by ranks of two hosts")
	}
	return nil
}

// TestTwoHosts: ranks of two hosts, which share no memory, keep the contract, and a failure ends all of them.
func TestTwoHosts(t *testing.T) {
	r := hosts(t)
	got := r.run(t, 4, "two hosts")
	require.Zero(t, got.code, got.output)
	require.Contains(t, got.output, "contract kept by ranks of two hosts")
	for _, c := range clustertest.Failures {
		t.Run(c.Name, func(t *testing.T) {
			code := clustertest.PlantedCode
			if c.Name == "different rounds" {
				code = 1
			}
			r.requireFailed(t, r.run(t, 4, c.Name), code)
		})
	}
	for name, code := range map[string]int{"exit": 5, "kill": 128 + 9} {
		t.Run(name, func(t *testing.T) { require.Equal(t, code, r.run(t, 4, name).code) })
	}
}
