package spirjoin_test

import (
	"context"
	"fmt"
	"log"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/cluster"
)

// Join tables of which several ranks have a share. The ranks of this job are goroutines; package cluster/mpi makes them
// of the processes of an MPI launcher.
func ExampleEngine_JoinDistributed() {
	people, visits := exampleTables()
	spec := spirjoin.JoinSpec{How: spirjoin.Left, LeftOn: []string{"id"}, RightOn: []string{"person"}}
	rank := func(job spirjoin.Job) error {
		ctx := context.Background()
		engine, err := spirjoin.Open(ctx, spirjoin.Options{Device: spirjoin.HostDevice})
		if err != nil {
			return err
		}
		defer engine.Close()
		left, right := people, array.NewTableFromRecords(visits.Schema(), nil)
		if job.Rank() > 0 { // rank 0 has all people, rank 1 all visits
			left, right = array.NewTableFromRecords(people.Schema(), nil), visits
		}
		result, err := engine.JoinDistributed(ctx, job, spirjoin.FromTable(left), spirjoin.FromTable(right), spec)
		if err != nil {
			return err
		}
		defer result.Close()
		for batch, err := range result.Batches(ctx) {
			if err != nil {
				return err
			}
			batch.Release() // or write it to a file of this rank
		}
		totals, err := result.Finish(ctx)
		if err == nil && job.Rank() == 0 {
			fmt.Println(totals.AllRows(), "rows on", job.Size(), "ranks")
		}
		return err
	}
	var ranks sync.WaitGroup
	for _, job := range cluster.Local(2, cluster.LocalOptions{}) {
		ranks.Go(func() {
			if err := rank(job); err != nil {
				job.Abort(err) // the others must not wait for this rank
				log.Print(err)
			}
		})
	}
	ranks.Wait()
	// Output: 4 rows on 2 ranks
}
