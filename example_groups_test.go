package spirjoin_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/spirjoin/spirjoin"
)

// Count the visits of every person, also of those who have none, without a table of persons with visits.
func ExampleEngine_JoinGroupBy() {
	ctx := context.Background()
	engine, err := spirjoin.Open(ctx, spirjoin.Options{Device: "host"})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	people, visits := exampleTables()
	defer people.Release()
	defer visits.Release()

	result, err := engine.JoinGroupBy(ctx, people, visits,
		spirjoin.JoinSpec{How: spirjoin.Left, LeftOn: []string{"id"}, RightOn: []string{"person"}},
		spirjoin.GroupSpec{By: []string{"name"}, Aggregates: []spirjoin.GroupAggregate{
			{Func: spirjoin.GroupCount, Column: "town", Name: "visits"}}})
	if err != nil {
		log.Fatal(err)
	}
	defer result.Close()
	var lines []string
	for batch, err := range result.Batches(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		for i := range int(batch.NumRows()) {
			lines = append(lines, batch.Column(0).ValueStr(i)+" "+batch.Column(1).ValueStr(i))
		}
		batch.Release()
	}
	slices.Sort(lines) // groups come in any order
	for _, line := range lines {
		fmt.Println(line)
	}
	// Output:
	// Ada 2
	// Edsger 1
	// Grace 0
}
