// Package tableio reads and writes tables as Parquet, CSV and Arrow IPC (file and stream), on disk or through stdin and
// stdout.
//
// Reading: [Open] recognizes the format by content, then by extension, and reads the schema; [Reader.Read] loads the
// requested columns, on all cores, into an Arrow table; [Reader.Batches] yields them in batches. Corrupt content causes
// an error that wraps [ErrInput], never a panic, and leaves nothing allocated. A folder, a pattern or a list is read as
// one table of several files, and [Reader.Share] leaves the part of one of several processes.
//
// Writing: [Create] opens a temporary file beside the output, so that an unwritable location is reported before any
// work is done; [Writer.Commit] renames it. An output file appears complete or not at all.
//
// Each format has a package, which opens sources and makes encoders: tableio/csv, tableio/ipc, tableio/parquet. Package
// tableio/core holds their contract and the code they share.
//
// docs/formats.md has the rules: type mapping, CSV inference, what "-" means; docs/files.md describes how it works and
// what memory it takes.
package tableio
