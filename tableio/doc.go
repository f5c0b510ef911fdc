// Package tableio reads and writes tables as Parquet, CSV and Arrow IPC (file
// and stream), on disk or through stdin and stdout.
//
// Reading: [Open] recognises the format by content, then by extension, and
// gives the schema; [Reader.Read] loads the columns asked for, on all cores,
// into an Arrow table, [Reader.Batches] yields them in batches. Corrupt content ends in an error that wraps [ErrInput],
// never in a panic, and leaves nothing allocated.
//
// Writing: [Create] opens a temporary file beside the output, so that an
// unwritable place is reported before any work is done; [Writer.Commit] renames
// it. An output file appears whole or not at all.
//
// docs/formats.md has the rules: type mapping, CSV inference, what "-" means;
// docs/files.md says how it works and what memory it takes.
package tableio
