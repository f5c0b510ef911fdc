//go:build race

package devicetest

// RaceDetector reports whether the test binary was built with the race detector.
const RaceDetector = true
