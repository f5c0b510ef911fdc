package spirjoin_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/spirjoin/spirjoin"
	"github.com/spirjoin/spirjoin/tableio"
)

// people and visits are two small tables; a program would read them from somewhere.
func exampleTables() (people, visits arrow.Table) {
	text, number := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64
	table := func(names [2]string, numbers []int64, texts []string) arrow.Table {
		schema := arrow.NewSchema([]arrow.Field{{Name: names[0], Type: number}, {Name: names[1], Type: text}}, nil)
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		defer b.Release()
		b.Field(0).(*array.Int64Builder).AppendValues(numbers, nil)
		b.Field(1).(*array.StringBuilder).AppendValues(texts, nil)
		batch := b.NewRecordBatch()
		defer batch.Release()
		return array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
	}
	people = table([2]string{"id", "name"}, []int64{1, 2, 3}, []string{"Ada", "Grace", "Edsger"})
	visits = table([2]string{"person", "town"}, []int64{3, 1, 1, 7}, []string{"Austin", "London", "Turin", "Nowhere"})
	return people, visits
}

// Join two tables and read the result batch by batch.
func Example() {
	ctx := context.Background()
	// Without Device it is the best GPU, or the CPU if there is none.
	engine, err := spirjoin.Open(ctx, spirjoin.Options{Device: "host"})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	people, visits := exampleTables()
	defer people.Release()
	defer visits.Release()

	result, err := engine.Join(ctx, people, visits, spirjoin.JoinSpec{
		LeftOn: []string{"id"}, RightOn: []string{"person"}, Columns: []string{"name", "town"},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer result.Close()
	var lines []string
	for batch, err := range result.Batches(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		for row := range int(batch.NumRows()) {
			lines = append(lines, batch.Column(0).ValueStr(row)+" was in "+batch.Column(1).ValueStr(row))
		}
		batch.Release() // the garbage collector does not free it
	}
	slices.Sort(lines) // a join gives its rows in any order
	for _, line := range lines {
		fmt.Println(line)
	}
	fmt.Println(result.Rows(), "rows on the", result.Device.Backend)
	// Output:
	// Ada was in London
	// Ada was in Turin
	// Edsger was in Austin
	// 3 rows on the host
}

// Count the matching pairs without building any row.
func ExampleEngine_Join_count() {
	ctx := context.Background()
	engine, err := spirjoin.Open(ctx, spirjoin.Options{Device: "host"})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	people, visits := exampleTables()
	defer people.Release()
	defer visits.Release()

	result, err := engine.Join(ctx, people, visits,
		spirjoin.JoinSpec{LeftOn: []string{"id"}, RightOn: []string{"person"}, Output: spirjoin.Count})
	if err != nil {
		log.Fatal(err)
	}
	defer result.Close()
	fmt.Println(result.Rows())
	// Output: 3
}

// printRows prints the rows of a result, values with spaces between.
func printRows(ctx context.Context, result *spirjoin.JoinResult) {
	for batch, err := range result.Batches(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		for row := range int(batch.NumRows()) {
			var values []string
			for _, column := range batch.Columns() {
				values = append(values, column.ValueStr(row))
			}
			fmt.Println(strings.Join(values, " "))
		}
		batch.Release()
	}
}

// Keep the left rows that have no partner, in the order of the left table, and say which they are.
func ExampleEngine_Join_left() {
	ctx := context.Background()
	engine, err := spirjoin.Open(ctx, spirjoin.Options{Device: "host"})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	people, visits := exampleTables()
	defer people.Release()
	defer visits.Release()

	result, err := engine.Join(ctx, people, visits, spirjoin.JoinSpec{How: spirjoin.Left, LeftOn: []string{"id"},
		RightOn: []string{"person"}, Indicator: "found", Columns: []string{"name", "town", "found"},
		Order: spirjoin.LeftOrder})
	if err != nil {
		log.Fatal(err)
	}
	defer result.Close()
	printRows(ctx, result)
	// Output:
	// Ada London both
	// Ada Turin both
	// Grace (null) left_only
	// Edsger Austin both
}

// Return the left rows that have a partner, each once.
func ExampleEngine_Join_semi() {
	ctx := context.Background()
	engine, err := spirjoin.Open(ctx, spirjoin.Options{Device: "host"})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	people, visits := exampleTables()
	defer people.Release()
	defer visits.Release()

	result, err := engine.Join(ctx, people, visits, spirjoin.JoinSpec{How: spirjoin.Semi, LeftOn: []string{"id"},
		RightOn: []string{"person"}, Columns: []string{"name"}, Order: spirjoin.LeftOrder})
	if err != nil {
		log.Fatal(err)
	}
	defer result.Close()
	printRows(ctx, result)
	// Output:
	// Ada
	// Edsger
}

// Join by a text key that has NULLs. Return the left rows without a partner: NULL equals nothing, unless NullsEqual
// names the key column.
func ExampleEngine_Join_nulls() {
	ctx := context.Background()
	engine, err := spirjoin.Open(ctx, spirjoin.Options{Device: "host"})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	schema := arrow.NewSchema([]arrow.Field{{Name: "code", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	var tables [2]arrow.Table
	for i, rows := range [...]string{`[{"code": "AMS"}, {"code": null}, {"code": "LHR"}]`,
		`[{"code": null}, {"code": "LHR"}]`} {
		tables[i], err = array.TableFromJSON(memory.DefaultAllocator, schema, []string{rows})
		if err != nil {
			log.Fatal(err)
		}
		defer tables[i].Release()
	}

	spec := spirjoin.JoinSpec{How: spirjoin.Anti, On: []string{"code"}, Order: spirjoin.LeftOrder}
	for _, nullsEqual := range [][]string{nil, {"code"}} {
		spec.NullsEqual = nullsEqual
		result, err := engine.Join(ctx, tables[0], tables[1], spec)
		if err != nil {
			log.Fatal(err)
		}
		printRows(ctx, result)
		fmt.Println(result.Rows(), "rows")
		result.Close()
	}
	// Output:
	// AMS
	// (null)
	// 2 rows
	// AMS
	// 1 rows
}

// Bound a join: its kind by name, keys that must be unique, memory, rows and time. Errors are told apart by errors.Is.
func ExampleEngine_Join_limits() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	engine, err := spirjoin.Open(ctx, spirjoin.Options{Device: "host", DeviceMemoryBytes: 64 << 20, MemoryLimitBytes: 1 << 30})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	people, visits := exampleTables()
	defer people.Release()
	defer visits.Release()

	how, err := spirjoin.ParseJoinHow("full")
	if err != nil {
		log.Fatal(err)
	}
	spec := spirjoin.JoinSpec{How: how, LeftOn: []string{"id"}, RightOn: []string{"person"},
		Validate: spirjoin.OneToMany, BuildSide: spirjoin.BuildLeft, MaxOutputRows: 3, Deterministic: true}
	drawn := func() (rows int, err error) {
		result, err := engine.Join(ctx, people, visits, spec)
		if err != nil {
			return 0, err
		}
		defer result.Close()
		for batch, err := range result.Batches(ctx) {
			if err != nil {
				return rows, err
			}
			rows += int(batch.NumRows())
			batch.Release()
		}
		return rows, nil
	}
	_, err = drawn()
	fmt.Println(errors.Is(err, spirjoin.ErrLimit))
	spec.MaxOutputRows = 100
	fmt.Println(drawn())
	spec.Validate = spirjoin.OneToOne
	_, err = drawn()
	fmt.Println(errors.Is(err, spirjoin.ErrInvalidInput), err)
	// Output:
	// true
	// 5 <nil>
	// true validate join: invalid input (keys of the right table must be unique, but rows 1 and 2 both have person=1; rows count from 0)
}

// Join one table, which stays on the device meanwhile, with several others.
func ExampleEngine_BuildSide() {
	ctx := context.Background()
	engine, err := spirjoin.Open(ctx, spirjoin.Options{Device: "host"})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	people, visits := exampleTables()
	defer people.Release()
	defer visits.Release()

	built, err := engine.BuildSide(ctx, people, visits.Schema(), 0, spirjoin.JoinSpec{LeftOn: []string{"id"},
		RightOn: []string{"person"}, Columns: []string{"name", "town"}, Order: spirjoin.RightOrder})
	if err != nil {
		log.Fatal(err)
	}
	defer built.Close()
	parts := array.NewTableReader(visits, 2) // two rows at a time
	defer parts.Release()
	for parts.Next() {
		part := array.NewTableFromRecords(visits.Schema(), []arrow.RecordBatch{parts.RecordBatch()})
		result, err := built.Join(ctx, part)
		if err != nil {
			log.Fatal(err)
		}
		printRows(ctx, result)
		fmt.Println(result.Rows(), "rows")
		result.Close()
		part.Release()
	}
	// Output:
	// Edsger Austin
	// Ada London
	// 2 rows
	// Ada Turin
	// 1 rows
}

// Join a table with what a reader yields, batch by batch; only some batches are in memory at a time.
func ExampleEngine_JoinStream() {
	ctx := context.Background()
	engine, err := spirjoin.Open(ctx, spirjoin.Options{Device: "host"})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	people, visits := exampleTables()
	defer people.Release()
	defer visits.Release()
	reader := array.NewTableReader(visits, 2) // or the reader of a file or socket
	defer reader.Release()

	result, err := engine.JoinStream(ctx, spirjoin.FromTable(people), spirjoin.FromReader(reader), spirjoin.JoinSpec{
		LeftOn: []string{"id"}, RightOn: []string{"person"}, Columns: []string{"name", "town"}, How: spirjoin.Right,
		Order: spirjoin.RightOrder})
	if err != nil {
		log.Fatal(err)
	}
	defer result.Close()
	printRows(ctx, result)
	// Output:
	// Edsger Austin
	// Ada London
	// Ada Turin
	// (null) Nowhere
}

// Look at the plan of a join, then run it.
func ExampleEngine_Explain() {
	ctx := context.Background()
	engine, err := spirjoin.Open(ctx, spirjoin.Options{Device: "host"})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	people, visits := exampleTables()
	defer people.Release()
	defer visits.Release()

	plan, err := engine.Explain(ctx, people, visits,
		spirjoin.JoinSpec{LeftOn: []string{"id"}, RightOn: []string{"person"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Layout.Schema.Field(2).Name, len(plan.String()) > 0)
	result, err := plan.Run(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer result.Close()
	fmt.Println(result.Rows())
	// Output:
	// town true
	// 3
}

// The devices of this process. The host's own cores are always among them, as the last.
func ExampleDiscover() {
	system, err := spirjoin.Discover(spirjoin.SystemOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer system.Close()
	for _, device := range system.Devices {
		if device.Backend == "host" {
			fmt.Println(device.ID, device.Type)
		}
	}
	// Output: host:cpu host
}

// Read two files, join them and write the result to a third one.
func ExampleEngine_Join_files() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "spirjoin")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := func(name, content string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			log.Fatal(err)
		}
		return name
	}
	people, visits := path("people.csv", "id,name\n1,Ada\n3,Edsger\n"), path("visits.csv", "id,town\n3,Austin\n4,Rome\n")

	engine, err := spirjoin.Open(ctx, spirjoin.Options{Device: "host"})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	var tables [2]arrow.Table
	for side, path := range []string{people, visits} {
		reader, err := tableio.Open(ctx, path, tableio.ReadOptions{Allocator: engine.Allocator()})
		if err != nil {
			log.Fatal(err)
		}
		defer reader.Close()
		if tables[side], err = reader.Read(ctx, nil); err != nil { // nil: all columns
			log.Fatal(err)
		}
		defer tables[side].Release()
	}
	result, err := engine.Join(ctx, tables[0], tables[1], spirjoin.JoinSpec{On: []string{"id"}})
	if err != nil {
		log.Fatal(err)
	}
	defer result.Close()
	output := filepath.Join(dir, "joined.csv")
	writer, err := tableio.Create(output, result.Schema(), tableio.WriteOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer writer.Abort() // does nothing after Commit
	for batch, err := range result.Batches(ctx) {
		if err == nil {
			err = writer.Write(ctx, batch)
			batch.Release()
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	if err := writer.Commit(ctx); err != nil { // the file appears
		log.Fatal(err)
	}
	joined, err := os.ReadFile(output)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(joined))
	// Output:
	// id,name,town
	// 3,Edsger,Austin
}
