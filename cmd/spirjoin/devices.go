package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/text"
)

func (s session) devicesCommand() *cli.Command {
	return &cli.Command{
		Name: "devices", Usage: "list the devices that can join",
		UsageText: "spirjoin devices [--links [--device DEVICES] [--path PATH]] [--json]",
		Description: "   The index, the id, the backend or a part of the name is what --device takes. A device that\n" +
			"   is named twice is opened twice.",
		Flags: append([]cli.Flag{&cli.BoolFlag{Name: "json", Category: "Output",
			Usage: "print everything that is known, as a JSON list"}}, linkFlags...),
		Action: func(c *cli.Context) (err error) {
			if c.Args().Present() {
				return command.Usagef("devices takes no arguments")
			}
			links, err := linkOptionsOf(c)
			if err != nil {
				return err
			}
			system, err := spirjoin.Discover(spirjoin.SystemOptions{})
			if err != nil {
				return err
			}
			defer system.Close()
			if c.Bool("links") {
				return s.links(c.Context, system, links, c.Bool("json"))
			}
			if c.Bool("json") {
				return writeJSON(s.Stdout, system.Devices)
			}
			writeDevices(s.Stdout, system.Devices)
			for _, problem := range slices.Concat(system.Problems, tuningProblems(system.Devices)) {
				s.Warn(problem)
			}
			return nil
		},
	}
}

// tuningProblems says what in the tuning file does not count on these devices; each problem once.
func tuningProblems(devices []backend.DeviceInfo) (problems []error) {
	seen := make(map[string]bool)
	for i := range devices {
		_, found := spirjoin.UserTuning(&devices[i])
		for _, problem := range found {
			if !seen[problem.Error()] {
				seen[problem.Error()] = true
				problems = append(problems, problem)
			}
		}
	}
	return problems
}

// writeDevices prints a line with the facts of each device, and below it what needs more room.
func writeDevices(w io.Writer, devices []backend.DeviceInfo) {
	rows := [][]string{{"#", "NAME", "TYPE", "MEMORY", "SUBGROUP", "BACKEND"}}
	for i := range devices {
		d := &devices[i]
		rows = append(rows, []string{cmp.Or(indexOf(d), "-"), text.Printable(d.Name), d.Type.String(), memoryText(d),
			subgroupText(d), d.Backend})
	}
	lines := text.TableLines([]text.Align{text.Right, text.Left, text.Left, text.Right, text.Right, text.Left}, rows)
	fmt.Fprintln(w, lines[0])
	for i, line := range lines[1:] {
		d := &devices[i]
		fmt.Fprintln(w, line)
		fmt.Fprintln(w, "   driver "+text.Printable(d.Driver+" "+d.DriverVersion))
		fmt.Fprintln(w, "   id     "+d.ID)
		if d.TwinOf != "" {
			fmt.Fprintln(w, "   the same device as "+twinText(devices, d.TwinOf))
		}
		if d.Unusable != "" {
			fmt.Fprintln(w, "   cannot be used: "+text.Printable(d.Unusable))
		}
	}
	if auto, err := backend.SelectDevice(devices, "auto"); err == nil {
		fmt.Fprintf(w, "--device auto takes %s\n", cmp.Or(indexOf(auto), auto.ID))
	}
	gpus := slices.DeleteFunc(slices.Clone(devices),
		func(d backend.DeviceInfo) bool { return d.CPULike() || d.Unusable != "" || d.TwinOf != "" })
	if len(gpus) > 1 {
		fmt.Fprintln(w, "--links measures the links between devices, which takes seconds")
	}
}

// indexOf is the number by which --device chooses a GPU; empty for other devices, which are chosen by name.
func indexOf(d *backend.DeviceInfo) string {
	if d.CPULike() {
		return ""
	}
	return strconv.Itoa(d.Index)
}

// twinText names a device of a list by its number and driver, or by its ID if it has no number.
func twinText(devices []backend.DeviceInfo, id string) string {
	i := slices.IndexFunc(devices, func(d backend.DeviceInfo) bool { return d.ID == id })
	if i < 0 || indexOf(&devices[i]) == "" {
		return id
	}
	d := &devices[i]
	return fmt.Sprintf("%s (%s, driver %s)", indexOf(d), d.Backend, text.Printable(d.Driver))
}

func memoryText(d *backend.DeviceInfo) string {
	size, _ := d.MemoryBytes()
	return text.Bytes(size)
}

func subgroupText(d *backend.DeviceInfo) string {
	if !d.Subgroups {
		return "none"
	}
	if d.MinSubgroupSize < d.MaxSubgroupSize {
		return fmt.Sprintf("%d (%d-%d)", d.SubgroupSize, d.MinSubgroupSize, d.MaxSubgroupSize)
	}
	return fmt.Sprint(d.SubgroupSize)
}
