package command

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
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
		Share: 0.418, Elapsed: time.Second, Left: 1500 * time.Millisecond}, step: 5, unit: " rows", began: at, at: at}
	const line = "5/5 join 3,200,000 of 6,001,215 rows, 41%, "
	require.Equal(t, line+"1.2 s, about 1.5 s left", joining.line(at, began, 80), "since the command began")
	require.Equal(t, line+"2.2 s, about 0.5 s left", joining.line(at.Add(time.Second), began, 80))
	const late = "it takes longer than was thought"
	require.Equal(t, line+"2.7 s, time left unknown", joining.line(at.Add(1500*time.Millisecond), began, 80), late)
	require.Equal(t, line+"1m1s, time left unknown", joining.line(began.Add(61*time.Second), began, 80), late)
	joining.Share, joining.Left = 1, 0
	require.Contains(t, joining.line(at, began, 80), ", 100%, 1.2 s, about 0.0 s left", "nothing is left")

	reading := progressState{JoinProgress: spirjoin.JoinProgress{Phase: "read left", Rows: 250, Total: 1000, Left: -1},
		unit: " rows", began: began, at: at}
	require.Equal(t, "read left 250 of 1,000 rows, 25%, 1.2 s, about 3.6 s left", reading.line(at, began, 80))
	require.Equal(t, "read left 250 of 1,000 rows, 25%, 5.2 s, time left unknown",
		reading.line(at.Add(4*time.Second), began, 80), late)
	reading.Rows = 0
	require.Equal(t, "read left 0 of 1,000 rows, 0%, 1.2 s", reading.line(at, began, 80))
	reading.Rows, reading.Total = 250, 0
	require.Equal(t, "read left 250 rows, 1.2 s", reading.line(at, began, 80), "of a number that is not known")
	reading.Rows = 0
	require.Equal(t, "read left, 1.2 s", reading.line(at, began, 80))
}

// Rows that are written follow those that are joined, in the form that fits.
func TestProgressLineOfManyToMany(t *testing.T) {
	at := time.Now()
	joining := progressState{JoinProgress: spirjoin.JoinProgress{Phase: "join", Rows: 114_925, Total: 500_000,
		Drawn: 206_213_096, Output: 1_000_040_265, Share: 0.2, Left: time.Minute}, step: 5, unit: " rows", began: at, at: at}
	for columns, want := range map[int]string{
		120: "5/5 join 114,925 of 500,000 rows, 206,213,096 of about 1,000,040,265 written, 20%, 0.0 s, about 1m0s left",
		90:  "5/5 join 114,925 of 500,000 rows, 206,213,096 written, 20%, 0.0 s, about 1m0s left",
		79:  "5/5 join 206,213,096 rows written, 20%, 0.0 s, about 1m0s left",
		61:  "5/5 join 114,925 of 500,000 rows, 20%, 0.0 s, about 1m0s left",
		60:  "5/5 join, 20%, 0.0 s, about 1m0s left",
		20:  "5/5 join, 20%",
		12:  "5/5 join",
	} {
		require.Equal(t, want, joining.line(at, at, columns))
	}
}

// TestProgressOfInputs: opening a CSV file tells how much of it was read, reading a table how many rows, and the line
// of each phase says which step of the command it is.
func TestProgressOfInputs(t *testing.T) {
	p := terminal().NewProgress(true)
	defer p.Close()
	line := func() string {
		state := p.state
		state.at = state.began
		return strings.TrimSuffix(state.line(p.began, p.began, 200), ", about 0.0 s left")
	}
	p.Opening(1, "r.csv", 150, 200)
	require.Regexp(t, `^2/5 open r\.csv 150 of 200 bytes, 75%, 0.0 s`, line())
	p.Reading(0, 4, 4)
	require.Equal(t, "3/5 read left 4 of 4 rows, 100%, 0.0 s", line())
	p.Reading(1, 3, 0)
	require.Equal(t, "4/5 read right 3 rows, 0.0 s", line())
	require.Equal(t, uint64(3), p.state.Rows)
	p.Join(spirjoin.JoinProgress{Phase: "plan", Left: -1})
	require.Equal(t, "5/5 plan, 0.0 s", line())
	p.Enter("open device")
	require.Equal(t, "open device, 0.0 s", line(), "which happens meanwhile")
}

// terminal is a session on a terminal of 100 columns.
func terminal() *Session {
	s := session.Session(nil, new(bytes.Buffer), nil)
	s.StdoutColumns = func() int { return 100 }
	s.StderrColumns = s.StdoutColumns
	return s
}

// Each picture covers the one before it, fits the terminal, and nothing stays.
func TestProgressOnATerminal(t *testing.T) {
	var screen bytes.Buffer
	s := terminal()
	p := s.NewProgress(true)
	p.w, p.columns = &screen, func() int { return 40 }
	p.draw(p.began)
	require.Empty(t, screen.String(), "nothing was reported")
	p.Join(spirjoin.JoinProgress{Phase: "join", Rows: 1_000_000, Total: 2_000_000, Share: 0.5, Left: time.Second})
	p.draw(p.began)
	p.Enter("finish")
	p.draw(p.began)
	p.Close()
	require.Equal(t, "\r5/5 join, 50%, 0.0 s, about 1.0 s left"+
		"\rfinish, 0.0 s"+strings.Repeat(" ", 25)+"\r"+strings.Repeat(" ", 13)+"\r", screen.String())
	p.draw(p.began)
	require.True(t, strings.HasSuffix(screen.String(), " \r"), "it is closed")
}

// A terminal that becomes narrower or wider is noticed.
func TestProgressOnATerminalThatIsResized(t *testing.T) {
	var screen bytes.Buffer
	p := terminal().NewProgress(true)
	width := 40
	p.w, p.columns = &screen, func() int { return width }
	p.Join(spirjoin.JoinProgress{Phase: "join", Rows: 1_000_000, Total: 2_000_000, Share: 0.5, Left: time.Second})
	for _, c := range []struct {
		columns int
		want    string
	}{{40, "5/5 join, 50%, 0.0 s, about 1.0 s left"}, {20, "5/5 join, 50%      "},
		{80, "5/5 join 1,000,000 of 2,000,000 rows, 50%, 0.0 s, about 1.0 s left"}, {0, ""}} {
		width = c.columns
		screen.Reset()
		p.draw(p.began)
		require.Equal(t, "\r"+c.want, screen.String())
	}
	p.Close()
}

// The line leaves the terminal to whoever reads standard output and writes on it.
func TestProgressBesideAPipe(t *testing.T) {
	for reader, shows := range map[pipeReader][2]bool{noPipe: {true, true}, elsewhere: {true, true},
		onTerminal: {true, false}, pager: {false, false}} {
		var screen bytes.Buffer
		s := terminal()
		p := s.NewProgress(true)
		p.w, p.beside, s.Stdout.before = &screen, reader, p.piped
		for i, want := range shows {
			screen.Reset()
			p.Enter("join")
			p.draw(p.began)
			require.Equal(t, want, strings.Contains(screen.String(), "join"), "%d, %d", reader, i)
			_, err := s.Stdout.Write([]byte("rows"))
			require.NoError(t, err)
			require.Zero(t, p.shown*(1-i), "it is gone before the first bytes")
		}
		p.Close()
	}
}

// TestReaderOfAPipe: who reads standard output, and where its output goes, is found by the files of the processes.
func TestReaderOfAPipe(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says who reads a pipe")
	}
	require.Equal(t, noPipe, readerOf(new(bytes.Buffer)))
	for command, want := range map[string]pipeReader{"cat >/dev/null": elsewhere, "cat | cat >/dev/null": elsewhere,
		"cp \"$(command -v cat)\" less && PATH=.:$PATH && exec less >/dev/null": pager} {
		from, to, err := os.Pipe()
		require.NoError(t, err)
		require.Equal(t, onTerminal, readerOf(to), "no process reads it by its standard input")
		shell := exec.Command("sh", "-c", command)
		shell.Stdin, shell.Dir = from, t.TempDir()
		require.NoError(t, shell.Start())
		require.NoError(t, from.Close())
		require.Eventually(t, func() bool { return readerOf(to) == want }, 5*time.Second, 10*time.Millisecond, command)
		require.NoError(t, to.Close())
		require.NoError(t, shell.Wait())
	}
}
