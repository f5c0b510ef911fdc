// Package command holds what the programs of cmd share: a session (arguments, streams, signals, one line and an exit
// code for every failure), help texts, the progress line, values of flags, and the devices of measurements.
package command
