package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/backend/link"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/primitive"
)

// linkOptions say which links `devices --links` measures.
type linkOptions struct {
	devices []string    // as --device names them; nil: all
	paths   []link.Path // to connect on, in this order; nil: the best
	each    bool        // each of paths by itself
}

var linkFlags = []cli.Flag{
	&cli.BoolFlag{Name: "links", Category: "Links", Usage: "print the links between devices, and measure them"},
	&cli.StringFlag{Name: "device", Category: "Links",
		Usage: "between these `DEVICES`, separated by commas; default: all"},
	&cli.StringFlag{Name: "path", Category: "Links",
		Usage: "connect on this `PATH`, or on each of \"all\"; default: the best"},
}

func linkOptionsOf(c *cli.Context) (o linkOptions, err error) {
	if !c.Bool("links") {
		for _, flag := range []string{"device", "path"} {
			if c.IsSet(flag) {
				return o, command.Usagef("--%s is for --links", flag)
			}
		}
		return o, nil
	}
	if names := c.String("device"); names != "" {
		o.devices = strings.Split(names, ",")
	}
	switch path := c.String("path"); path {
	case "":
	case "all":
		o.each = true
		for p := link.SharedAllocation; p.ByDefault(); p++ {
			o.paths = append(o.paths, p)
		}
	default:
		p, err := link.ParsePath(path)
		if err != nil {
			return o, command.Usagef("--path: %v", err)
		}
		o.paths = []link.Path{p}
	}
	return o, nil
}

// linkReport is a link, or why there is none.
type linkReport struct {
	From           int     `json:"from"` // index of a device
	To             int     `json:"to"`
	Path           string  `json:"path,omitempty"`
	BytesPerSecond float64 `json:"bytes_per_second,omitempty"`
	Indirect       string  `json:"indirect,omitempty"` // why the driver that copies needs exchange memory
	Error          string  `json:"error,omitempty"`

	err error
}

// links prints the link from each device to each other one.
func (s session) links(ctx context.Context, system *spirjoin.System, o linkOptions, asJSON bool) error {
	reports, err := measureLinks(ctx, system, o)
	if err != nil {
		return err
	}
	if asJSON {
		err = writeJSON(s.Stdout, reports)
	} else {
		writeLinks(s.Stdout, system.Devices, reports)
		if o.each || o.paths == nil {
			fmt.Fprint(s.Stdout, offByDefault())
		}
	}
	var missing []error
	for _, r := range reports {
		if r.err == nil {
			return err
		}
		missing = append(missing, r.err)
	}
	return errors.Join(append(missing, err)...) // no link at all
}

// measureLinks opens each device as often as it is named.
func measureLinks(ctx context.Context, system *spirjoin.System, o linkOptions) (reports []linkReport, err error) {
	names := o.devices
	if names == nil {
		for _, d := range system.Devices {
			if d.Unusable == "" && d.TwinOf == "" {
				names = append(names, d.ID)
			}
		}
	}
	if len(names) < 2 {
		return nil, command.Usagef("a link needs two devices; name one twice, as in --device 0,0, for the link between two " +
			"logical devices of it")
	}
	var ends []*linkEnd
	defer func() {
		for _, e := range ends {
			err = errors.Join(err, e.device.Close())
		}
	}()
	for _, name := range names {
		e, err := openLinkEnd(ctx, system, name)
		if err != nil {
			return nil, err
		}
		ends = append(ends, e)
	}
	var devices []*backend.Device
	for _, e := range ends {
		devices = append(devices, e.device)
	}
	link.Join(devices...)
	for i, from := range ends {
		for j, to := range ends {
			if i == j {
				continue
			}
			tries := [][]link.Path{o.paths}
			if o.each {
				tries = nil
				for _, path := range o.paths {
					tries = append(tries, []link.Path{path})
				}
			}
			for _, paths := range tries {
				r := measureLink(ctx, from, to, paths)
				if ctx.Err() != nil {
					return nil, r.err
				}
				reports = append(reports, r)
			}
		}
	}
	return reports, nil
}

// linkEnd is an open device and its primitives, which copy at the ends of a link.
type linkEnd struct {
	device *backend.Device
	index  int
	ops    *primitive.Ops
}

func openLinkEnd(ctx context.Context, system *spirjoin.System, name string) (*linkEnd, error) {
	info, err := backend.SelectDevice(system.Devices, strings.TrimSpace(name))
	if err != nil {
		return nil, err
	}
	device, err := system.Open(ctx, info.ID, backend.DeviceOptions{})
	if err != nil {
		return nil, err
	}
	user, _ := spirjoin.UserTuning(info)
	ops, err := primitive.New(device, user)
	if err != nil {
		return nil, errors.Join(err, device.Close())
	}
	return &linkEnd{device, info.Index, ops}, nil
}

// largeCopyBytes is the size of the copies that are measured, and that where cores are a device.
const largeCopyBytes, coreCopyBytes = 1 << 30, 64 << 20

func measureLink(ctx context.Context, from, to *linkEnd, paths []link.Path) linkReport {
	r := linkReport{From: from.index, To: to.index}
	if len(paths) == 1 {
		r.Path = paths[0].String()
	}
	l, err := link.Connect(ctx, from.device, to.device, paths...)
	if err == nil {
		if r.Path = l.Path.String(); l.Indirect != nil {
			r.Indirect = whyNot(l.Indirect)
		}
		err = l.UseKernels(ctx, from.ops.Copy, to.ops.Copy)
		if err == nil {
			r.BytesPerSecond, err = l.Measure(ctx, copyBytes(from.device, to.device))
		}
		err = errors.Join(err, l.Close())
	}
	if err != nil {
		r.err, r.Error = err, whyNot(err)
	}
	return r
}

// whyNot is an error without what the line above it says.
func whyNot(err error) string {
	if op := new(backend.OpError); errors.As(err, &op) {
		err = &backend.OpError{Op: op.Op, Err: op.Err, Detail: op.Detail}
	}
	return text.OneLine(err.Error())
}

// copyBytes is at most an eighth of the memory that is free on the two devices.
func copyBytes(devices ...*backend.Device) uint64 {
	size := uint64(largeCopyBytes)
	for _, d := range devices {
		if d.Info().CPULike() {
			size = min(size, coreCopyBytes)
		}
		size = min(size, d.Options().DeviceMemoryBytes/8)
	}
	return size / 4 * 4
}

// offByDefault names the paths that no link takes unless they are forced.
func offByDefault() string {
	var lines strings.Builder
	for p := range link.Paths {
		if !p.ByDefault() {
			option := strings.ReplaceAll(p.String(), " ", "-")
			fmt.Fprintf(&lines, "%v: off by default; --path %s forces it\n", p, option)
		}
	}
	return lines.String()
}

func writeLinks(w io.Writer, devices []backend.DeviceInfo, reports []linkReport) {
	name := func(index int) string { return strconv.Itoa(index) + " " + text.Printable(devices[index].Name) }
	rows := [][]string{{"FROM", "TO", "PATH", "RATE"}}
	for _, r := range reports {
		rate := "none"
		if r.err == nil {
			rate = text.Rate(r.BytesPerSecond, "B")
		}
		rows = append(rows, []string{name(r.From), name(r.To), r.Path, rate})
	}
	lines := text.TableLines([]text.Align{text.Left, text.Left, text.Left, text.Right}, rows)
	fmt.Fprintln(w, lines[0])
	for i, r := range reports {
		fmt.Fprintln(w, lines[1+i])
		if r.err != nil {
			fmt.Fprintln(w, "   "+text.Printable(r.Error))
		}
		if r.Indirect != "" {
			fmt.Fprintln(w, "   through exchange memory: "+text.Printable(r.Indirect))
		}
	}
}
