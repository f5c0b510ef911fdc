package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/cluster"
	"github.com/spirjoin/spirjoin/files"
	"github.com/spirjoin/spirjoin/internal/command"
	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/spirjoin/spirjoin/tableio"
)

// joinAsRank runs the command as a rank of the job. All ranks have read the flags before any of them begins.
func (s session) joinAsRank(ctx context.Context, job spirjoin.Job, o joinOptions, err error) error {
	type flags struct {
		Goal      goal
		Output    string
		Overwrite bool
		Format    tableio.Format
	}
	mine := flags{o.goal, o.output, o.overwrite, o.write.Format}
	all, err := command.Agree(ctx, job, "flags", mine, err)
	if err != nil {
		return err
	}
	for rank, theirs := range all {
		if theirs != all[0] {
			return command.Usagef("ranks 0 and %d have different flags for the output: %+v and %+v", rank,
				all[0], theirs)
		}
	}
	if o.job = job; job.Size() == 1 && !(o.goal == goalFile && isFolder(o.output)) {
		o.job = nil
	}
	return s.join(ctx, o)
}

// isFolder tells whether an output is a folder: it is one already, or is written as one.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return strings.HasSuffix(path, "/") || err == nil && info.IsDir()
}

// goalOfRanks is what several ranks can do.
func (f *joinFlags) goalOfRanks(ranks int, format tableio.Format) goal {
	output := f.String("output")
	switch {
	case slices.Contains(f.Args().Slice(), "-"):
		f.Fault("ranks cannot share standard input; name a file")
	case f.Bool("explain"):
		f.Fault("--explain is for one process; --stats text shows the plans of ranks")
	case f.IsSet("by") || f.IsSet("agg"):
		f.Fault("--by and --agg are for one process; have the ranks write the joined rows to a folder, and group that")
	case f.Bool("count"):
		return f.goal(format, false)
	case output == "" || output == "-":
		f.Fault("%d ranks write one file each; choose a folder for them: --output DIR/, or use --count", ranks)
	case !isFolder(output) && tableio.FormatOf(output) != tableio.Auto || isFile(output):
		f.Fault("%d ranks write one file each; %q is one file, choose a folder: --output DIR/", ranks, output)
	}
	return goalFile
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// ready waits for the device. All ranks have opened device and inputs before any of them goes on.
func (j *joining) ready(ctx context.Context, err error) error {
	if _, failed := j.engine(); failed != nil {
		err = failed
	}
	_, err = command.Agree(ctx, j.job, "ready", struct{}{}, err)
	return err
}

// overRanks joins with the other ranks, and writes the part of this rank, or counts the rows.
func (j *joining) overRanks(ctx context.Context) (err error) {
	layout, err := j.share()
	if _, err = command.Agree(ctx, j.job, "plan", struct{}{}, err); err != nil {
		return err
	}
	var folder *tableio.Folder
	var writer *tableio.Writer
	if j.goal == goalFile {
		if folder, err = j.openFolder(ctx); err != nil {
			return err
		}
		defer folder.Abort() // does nothing after Keep
		writer, err = folder.Add(j.job.Rank(), j.job.Size(), layout.Schema, j.write)
		if _, err = command.Agree(ctx, j.job, "parts", struct{}{}, err); err != nil {
			return err
		}
	}
	defer prepareJoin(ctx, j.device, j.joinOptions, layout, j.pair)()
	if dividable(layout) {
		defer func() { err = offerTempDir(err, &j.joinOptions) }()
	}
	joined, err := j.pair.JoinDistributed(ctx, j.job, layout, j.goal.use())
	if err != nil {
		return err
	}
	defer joined.Close()
	defer func() {
		if err != nil {
			j.job.Abort(err) // before the result is closed, which is no reason
		}
	}()
	j.report.ReadSeconds += j.pair.ReadSeconds()
	drawing := time.Now()
	if writer != nil {
		if j.report.WriteSeconds, err = files.Draw(ctx, joined, writer); err != nil {
			return err
		}
	}
	totals, err := joined.Finish(ctx)
	if err = j.finish(ctx, folder, err); err != nil {
		return err
	}
	j.report.OutputSeconds = time.Since(drawing).Seconds()
	return j.reportRanks(ctx, joined.DistributedResult, totals)
}

// share plans the join, and leaves the parts of the inputs that this rank reads.
func (j *joining) share() (*spirjoin.JoinLayout, error) {
	layout, err := j.pair.Layout(j.spec)
	if err != nil {
		return nil, explainComparison(err, j.spec, j.pair)
	}
	j.pair.Choose(layout) // by the bounds of all files
	return layout, j.pair.Share(j.job.Rank(), j.job.Size())
}

// openFolder has rank 0 make the folder of the output, and opens it.
func (j *joining) openFolder(ctx context.Context) (folder *tableio.Folder, err error) {
	created := false
	if j.job.Rank() == 0 {
		if folder, err = tableio.MakeFolder(j.output, j.overwrite); err == nil {
			created = folder.Created()
		}
	}
	all, err := command.Agree(ctx, j.job, "folder", created, err)
	switch {
	case err != nil && folder != nil:
		return nil, errors.Join(err, folder.Abort())
	case err != nil || folder != nil:
		return folder, err
	}
	return tableio.ShareFolder(j.output, all[0])
}

// finish completes the output when all ranks have drawn their rows. err is the rank's own error, which all ranks learn.
// A manifest appears when all parts are there.
func (j *joining) finish(ctx context.Context, folder *tableio.Folder, err error) error {
	var parts []tableio.PartManifest
	if err == nil && folder != nil {
		j.progress.Report("finish", 0, 0)
		parts, err = folder.CommitParts(ctx)
	}
	all, err := command.Agree(ctx, j.job, "finished", parts, err)
	if err != nil || folder == nil {
		return err
	}
	if j.job.Rank() == 0 {
		err = folder.List(slices.Concat(all...), nil)
	}
	if _, err = command.Agree(ctx, j.job, "listed", struct{}{}, err); err == nil {
		folder.Keep()
	}
	return err
}

// ranksReport is the output of --stats json of a job.
type ranksReport struct {
	Ranks []json.RawMessage `json:"ranks"` // a rankReport each
	*spirjoin.DistributedTotals
	OutputRows  uint64  `json:"output_rows"` // of all ranks
	Nodes       []int   `json:"nodes"`       // the node of each rank
	WallSeconds float64 `json:"wall_seconds"`
	Output      string  `json:"output,omitempty"`
	Version     string  `json:"version"`
}

// rankReport is what a rank tells of its part.
type rankReport struct {
	joinReport
	Sent cluster.Traffic `json:"sent"` // to other ranks
}

// reportRanks gathers what all ranks have measured; rank 0 prints it.
func (j *joining) reportRanks(ctx context.Context, result *spirjoin.DistributedResult, t *spirjoin.DistributedTotals) (
	err error) {
	r := rankReport{joinReport: *j.report, Sent: j.job.Stats().Total()}
	r.JoinStats = result.Stats()
	r.complete(&result.Device)
	r.warn(j.Stderr)
	type report struct {
		Stats json.RawMessage
		Plan  string
		Sent  uint64
	}
	mine := report{Sent: uint64(r.Sent.Bytes)}
	if mine.Stats, err = json.Marshal(r); err != nil {
		return err
	}
	if j.stats == statsText {
		mine.Plan = result.Explain()
	}
	all, err := command.Agree(ctx, j.job, "stats", mine, nil)
	if err != nil || j.job.Rank() > 0 {
		return err
	}
	j.progress.ClearLine()
	rows := t.AllRows()
	if j.goal == goalCount && j.stats != statsJSON {
		fmt.Fprintln(j.Stdout, rows)
	}
	switch j.stats {
	case statsJSON:
		whole := ranksReport{DistributedTotals: t, OutputRows: rows, Nodes: j.job.Nodes(), WallSeconds: r.WallSeconds,
			Output: j.output, Version: command.Version()}
		for _, of := range all {
			whole.Ranks = append(whole.Ranks, of.Stats)
		}
		return writeJSON(j.Stdout, whole)
	case statsText:
		for _, of := range all {
			fmt.Fprint(j.Stdout, command.NameRaisedFlags(of.Plan))
		}
	}
	if j.quiet {
		return nil
	}
	sent, to := uint64(0), ""
	for _, of := range all {
		sent += of.Sent
	}
	if j.output != "" {
		to = " to " + text.OneLine(j.output)
	}
	fmt.Fprintf(j.Stderr, "%s%s in %.2f s on %s, which sent %s\n", text.Plural(rows, "row"), to, r.WallSeconds,
		text.Plural(j.job.Size(), "rank"), text.Bytes(sent))
	return nil
}
