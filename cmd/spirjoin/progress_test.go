package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spirjoin/spirjoin"
)

func TestProgressLine(t *testing.T) {
	began := time.Now()
	at := began.Add(1200 * time.Millisecond)
	joining := progressState{JoinProgress: spirjoin.JoinProgress{Phase: "join", Rows: 3_200_000, Total: 6_001_215,
		Share: 0.418, Elapsed: time.Second, Left: 1500 * time.Millisecond}, unit: " rows", began: at, at: at}
	const line = "join 3,200,000 of 6,001,215 rows, 41%, "
	require.Equal(t, line+"1.2 s, about 1.5 s left", joining.line(at, began), "since the command began")
	require.Equal(t, line+"2.2 s, about 0.5 s left", joining.line(at.Add(time.Second), began))
	require.Equal(t, line+"5.2 s, about 0.0 s left", joining.line(at.Add(4*time.Second), began), "it takes longer")
	require.Equal(t, line+"1m1s, about 0.0 s left", joining.line(began.Add(61*time.Second), began))

	reading := progressState{JoinProgress: spirjoin.JoinProgress{Phase: "read left", Rows: 250, Total: 1000, Left: -1},
		unit: " rows", began: began, at: at}
	require.Equal(t, "read left 250 of 1,000 rows, 25%, 1.2 s, about 3.6 s left", reading.line(at, began))
	reading.Rows = 0
	require.Equal(t, "read left 0 of 1,000 rows, 0%, 1.2 s", reading.line(at, began))
	reading.Rows, reading.Total = 250, 0
	require.Equal(t, "read left 250 rows, 1.2 s", reading.line(at, began), "of a number that is not known")
	reading.Rows = 0
	require.Equal(t, "read left, 1.2 s", reading.line(at, began))
}

// Each picture covers the one before it, fits the terminal, and nothing stays.
func TestProgressOnATerminal(t *testing.T) {
	var screen bytes.Buffer
	s := onTerminal(new(bytes.Buffer), nil)
	p := s.newProgress(true)
	p.w, p.columns = &screen, 40
	p.draw(p.began)
	require.Empty(t, screen.String(), "nothing was reported")
	p.join(spirjoin.JoinProgress{Phase: "join", Rows: 1_000_000, Total: 2_000_000, Share: 0.5, Left: time.Second})
	p.draw(p.began)
	p.enter("finish")
	p.draw(p.began)
	p.close()
	require.Equal(t, "\rjoin 1,000,000 of 2,000,000 rows, 50%, "+ // cut off
		"\rfinish, 0.0 s"+strings.Repeat(" ", 26)+"\r"+strings.Repeat(" ", 13)+"\r", screen.String())
	p.draw(p.began)
	require.True(t, strings.HasSuffix(screen.String(), " \r"), "it is closed")
}
