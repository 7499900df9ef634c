package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"bucketop/internal/textsafe"
)

// format is how data is written to stdout.
type format string

// Formats.
const (
	formatTable format = "table" // aligned columns, for people
	formatTSV   format = "tsv"   // the same cells, tabs between them, for cut and awk
	formatJSON  format = "json"  // one array, or one object where there is always one
	formatJSONL format = "jsonl" // one object a line
)

func parseFormat(text string) (format, error) {
	switch f := format(text); f {
	case formatTable, formatTSV, formatJSON, formatJSONL:
		return f, nil
	}
	return "", usagef("--output %q: write table, json, jsonl or tsv", text)
}

// output writes data to stdout. Nothing goes out before the end of a verb, but
// for streams; a failed write is kept and returned by err.
type output struct {
	w      io.Writer
	format format
	ascii  bool
}

// cell makes a text from Redis safe for a table.
func (o output) cell(text string) string {
	switch {
	case text == "":
		return "-"
	case o.ascii:
		return textsafe.EscapeASCII(text)
	}
	return textsafe.Escape(text)
}

// isJSON reports whether the records themselves are written, not their cells.
func (o output) isJSON() bool { return o.format == formatJSON || o.format == formatJSONL }

// table is rows of cells that are safe to draw.
type table struct {
	header []string
	right  map[int]bool // columns of numbers
	rows   [][]string
}

// list writes records as JSON, or the table.
func (o output) list(records []any, t table) error {
	switch o.format {
	case formatJSON:
		return o.json(records)
	case formatJSONL:
		return o.jsonl(records...)
	case formatTSV:
		return o.tsv(t)
	case formatTable:
	}
	return o.aligned(t, widths(t))
}

// one writes a single record as JSON, or the table.
func (o output) one(record any, t table) error {
	if o.format == formatJSON {
		return o.json(record)
	}
	return o.list([]any{record}, t)
}

func (o output) json(value any) error {
	if records, ok := value.([]any); ok && records == nil {
		value = []any{} // null would say "unknown"
	}
	return o.encode(value, "  ")
}

func (o output) jsonl(records ...any) error {
	for _, record := range records {
		if err := o.encode(record, ""); err != nil {
			return err
		}
	}
	return nil
}

func (o output) encode(value any, indent string) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return o.write(visible(b.String()))
}

// visible spells out, as JSON escapes, the characters beyond ASCII that a
// terminal could obey or hide, and DEL; encoding/json escapes only those below
// the space. Outside of strings JSON has none of them.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n', ' ' <= r && r < 0x7f, r > 0x9f && strconv.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func (o output) tsv(t table) error {
	var b strings.Builder
	for _, row := range append([][]string{t.header}, t.rows...) {
		b.WriteString(strings.Join(row, "\t"))
		b.WriteByte('\n')
	}
	return o.write(b.String())
}

// widths are the columns' widths in cells.
func widths(t table) []int {
	all := make([]int, len(t.header))
	for _, row := range append([][]string{t.header}, t.rows...) {
		for i, cell := range row {
			all[i] = max(all[i], cellWidth(cell))
		}
	}
	return all
}

func (o output) aligned(t table, widths []int) error {
	var b strings.Builder
	for _, row := range append([][]string{t.header}, t.rows...) {
		if row == nil {
			continue // a stream's header was written before
		}
		writeAligned(&b, row, widths, t.right)
	}
	return o.write(b.String())
}

// gap stands between two columns.
const gap = "  "

func writeAligned(b *strings.Builder, row []string, widths []int, right map[int]bool) {
	var cells strings.Builder
	for i, cell := range row {
		if i > 0 {
			cells.WriteString(gap)
		}
		if right[i] {
			cells.WriteString(textsafe.PadLeft(cell, widths[i]))
		} else {
			cells.WriteString(textsafe.PadRight(cell, widths[i]))
		}
	}
	b.WriteString(strings.TrimRight(cells.String(), " "))
	b.WriteByte('\n')
}

func (o output) write(text string) error {
	if _, err := io.WriteString(o.w, text); err != nil {
		return fmt.Errorf("writing to stdout: %w", err)
	}
	return nil
}

// cellWidth is the width of a cell's text in terminal cells. No rune is wider
// than it has bytes, so padding to the number of bytes tells what is missing.
func cellWidth(text string) int {
	return 2*len(text) - len(textsafe.PadRight(text, len(text)))
}
