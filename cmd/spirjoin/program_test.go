package main

import "github.com/spirjoin/spirjoin/internal/command/commandtest"

var tested = commandtest.Program{Program: &program}
