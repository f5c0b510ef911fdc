package main

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/backend"
	"github.com/spirjoin/spirjoin/internal/selftest"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/kernel"
	"github.com/spirjoin/spirjoin/opencl"
)

// An OpenCL driver runs in the process that opens it: a broken one may hang there, and a compiler may crash. So doctor
// starts itself once more for each driver, which lists its devices and builds a kernel on each, and once more for the
// self-test of a device.

// openclChild is the environment variable that makes the process such a child: "list", or the ID of the device to test.
const openclChild = "SPIRJOIN_DOCTOR_OPENCL"

// The time that a child has. Compilers take a second for a kernel, and a self-test builds two dozen.
var (
	listLimit = 30 * time.Second
	testLimit = 5 * time.Minute
)

// openclListed is a line that a child writes: the devices of its drivers; or the device that builds now, and then what
// came of it.
type openclListed struct {
	Devices []backend.DeviceInfo `json:"devices,omitempty"`
	Builds  string               `json:"builds,omitempty"` // ID
	Error   string               `json:"error,omitempty"`
}

// runOpenCLChildIfAsked turns the process into a child of doctor and does not return, if the environment says so.
func runOpenCLChildIfAsked() {
	task, asked := os.LookupEnv(openclChild)
	if !asked {
		return
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1) // the parent has ended
	}()
	out := json.NewEncoder(os.Stdout)
	if task == "list" {
		if err := listOpenCL(out); err != nil {
			_ = out.Encode(openclListed{Error: text.OneLine(err.Error())})
		}
		os.Exit(0)
	}
	system, err := spirjoin.Discover(spirjoin.SystemOptions{Devices: []string{task}})
	if err == nil {
		var report selftest.Report
		report, err = selftest.Run(context.Background(), system, task)
		_ = out.Encode(resultOf(report, err))
	}
	os.Exit(0)
}

// listOpenCL writes the devices, and builds and runs the smallest kernel on each.
func listOpenCL(out *json.Encoder) error {
	b, err := opencl.New(opencl.Options{})
	if err != nil {
		return err
	}
	devices, err := b.Devices()
	if err != nil {
		return err
	}
	_ = out.Encode(openclListed{Devices: devices})
	for _, d := range devices {
		if d.Unusable != "" {
			continue
		}
		_ = out.Encode(openclListed{Builds: d.ID})
		if err := buildOn(b, d.ID); err != nil {
			_ = out.Encode(openclListed{Builds: d.ID, Error: text.OneLine(err.Error())})
		}
	}
	return b.Close()
}

func buildOn(b *opencl.Backend, id string) error {
	driver, err := b.Open(id)
	if err != nil {
		return err
	}
	device := backend.NewDevice(driver, backend.DeviceOptions{})
	defer func() { _ = device.Close() }()
	const rows = 1000
	values, err := device.Allocate(context.Background(), backend.DeviceLocal, 4*rows, "numbers")
	if err != nil {
		return err
	}
	defer values.Release()
	config := kernel.Iota.With(nil)
	k, err := kernel.Iota.On(device, config)
	if err != nil {
		return err
	}
	var list backend.List
	k.Dispatch(&list, kernel.Groups(config, rows), kernel.IotaArgs{Values: values.All(), Rows: rows})
	if err := device.Run(context.Background(), &list); err != nil {
		return err
	}
	last := make([]byte, 4)
	if err := device.Download(context.Background(), last, values.Range(4*(rows-1), 4)); err != nil {
		return err
	}
	if got := backend.Words(last)[0]; got != rows-1 {
		return fmt.Errorf("its first kernel wrote %d instead of %d", got, rows-1)
	}
	return nil
}

// openclDriver is a driver that the OpenCL loader would open.
type openclDriver struct {
	file    string // of its name for the loader; empty if the environment names drivers in another way
	library string
	devices []backend.DeviceInfo
	problem string // why it has none, or what failed

	vendors string // OCL_ICD_VENDORS for a child that opens this driver alone; empty: as it is
}

// openclVendors is where loaders look for drivers.
const openclVendors = "/etc/OpenCL/vendors"

// probeOpenCL asks each driver for its devices, in processes of their own. cleanup removes their files.
func probeOpenCL(ctx context.Context) (drivers []*openclDriver, cleanup func(), err error) {
	if !opencl.Built {
		return nil, func() {}, nil
	}
	place := cmp.Or(os.Getenv("OCL_ICD_VENDORS"), openclVendors)
	files, _ := filepath.Glob(filepath.Join(place, "*.icd"))
	folder, err := os.MkdirTemp("", "spirjoin-opencl-")
	if err != nil {
		return nil, nil, err
	}
	cleanup = func() { _ = os.RemoveAll(folder) }
	for i, file := range files {
		d := &openclDriver{file: file, vendors: filepath.Join(folder, fmt.Sprint(i))}
		name, err := os.ReadFile(file)
		if err == nil {
			d.library = strings.TrimSpace(string(name))
			err = os.Mkdir(d.vendors, 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(d.vendors, filepath.Base(file)), name, 0o600)
		}
		if err != nil {
			d.problem = err.Error()
		} else {
			d.list(ctx)
		}
		drivers = append(drivers, d)
	}
	if len(files) == 0 { // perhaps the loader knows another place
		d := &openclDriver{}
		if d.list(ctx); len(d.devices) > 0 || os.Getenv("OCL_ICD_VENDORS") != "" {
			drivers = append(drivers, d)
		}
	}
	return drivers, cleanup, nil
}

// list runs a child that lists the devices of a driver.
func (d *openclDriver) list(ctx context.Context) {
	output, err := d.child(ctx, "list", listLimit)
	building := ""
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var line openclListed
		if decoder.Decode(&line) != nil {
			break
		}
		switch {
		case line.Devices != nil:
			d.devices = line.Devices
			for i := range d.devices {
				d.devices[i].Type = typeNamed(d.devices[i].TypeName)
			}
		case line.Error != "" && line.Builds != "":
			d.spoil(line.Builds, line.Error)
			building = ""
		case line.Error != "":
			d.problem = line.Error
		default:
			building = line.Builds
		}
	}
	switch {
	case err != nil && building != "":
		d.spoil(building, "building its first kernel: "+err.Error())
	case err != nil:
		d.problem = "listing its devices: " + err.Error()
	case d.problem != "" && filepath.IsAbs(d.library): // of a library that it cannot open, a loader says nothing
		library, err := elf.Open(d.library)
		if err != nil {
			d.problem = text.OneLine(err.Error())
			return
		}
		_ = library.Close()
	}
}

// typeNamed is the type that JSON names.
func typeNamed(name string) backend.DeviceType {
	t := backend.Discrete
	for t < backend.Software && t.String() != name {
		t++
	}
	return t
}

// spoil makes a device unusable.
func (d *openclDriver) spoil(id, why string) {
	for i := range d.devices {
		if d.devices[i].ID == id {
			d.devices[i].Unusable = why
			d.problem = d.devices[i].Name + ": " + why
		}
	}
}

// selfTest tests a device of the driver in a child.
func (d *openclDriver) selfTest(ctx context.Context, device backend.DeviceInfo) (r deviceResult) {
	output, err := d.child(ctx, device.ID, testLimit)
	if err == nil {
		err = json.Unmarshal(output, &r)
	}
	if err != nil {
		r = deviceResult{Error: text.OneLine(err.Error())}
	}
	r.Device = device
	return r
}

// child runs a task in a child and returns what it wrote. The error says how it ended where that was not by itself.
func (d *openclDriver) child(ctx context.Context, task string, limit time.Duration) ([]byte, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	command := exec.CommandContext(ctx, program)
	command.Env = append(os.Environ(), openclChild+"="+task)
	if d.vendors != "" {
		command.Env = append(command.Env, "OCL_ICD_VENDORS="+d.vendors)
	}
	command.WaitDelay = time.Second
	stdin, err := command.StdinPipe() // its end tells the child that this process has ended
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	var output, said bytes.Buffer
	command.Stdout, command.Stderr = &output, &said
	err = command.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("no answer in %v", limit)
	case errors.As(err, &exit):
		how := exit.Error()
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			how = "it crashed, " + status.Signal().String()
		}
		if first, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n"); first != "" {
			how += " (" + first + ")"
		}
		err = errors.New(how)
	}
	return output.Bytes(), err
}
