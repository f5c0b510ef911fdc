package csv

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func blockOf(firstLine int64, text string) textBlock {
	padded := append([]byte(text), padding[:]...)
	data := padded[:len(text)]
	return textBlock{firstLine: firstLine, data: data, padded: padded, returns: countReturns(data) > 0}
}

func TestSplitIsBlockSizeFree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab,\"\"\n\n\r\r")), 0, 60, -1).Draw(rt, "text")
		cut := rapid.IntRange(0, len(text)).Draw(rt, "cut")
		parse := func(parts ...string) (records [][]string, err error) {
			line := int64(1)
			for _, part := range parts {
				scanner := newRecordScanner(blockOf(line, part), ',', 0)
				for {
					err := scanner.record()
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						return nil, err
					}
					var texts []string
					for _, span := range scanner.spans {
						texts = append(texts, fmt.Sprint(span.quoted(), string(scanner.value(span))))
					}
					scanner.spans = scanner.spans[:0]
					records = append(records, texts)
				}
				feeds := strings.ReplaceAll(part, "\r\n", "\n")
				line += int64(strings.Count(feeds, "\n") + strings.Count(feeds, "\r"))
				if scanner.nextLine != line && strings.HasSuffix(part, "\n") {
					return nil, fmt.Errorf("at line %d instead of %d", scanner.nextLine, line)
				}
			}
			return records, nil
		}
		end := lastRecordEnd([]byte(text[:cut]))
		whole, wholeErr := parse(text)
		halves, halvesErr := parse(text[:end], text[end:])
		if wholeErr != nil {
			require.EqualError(rt, halvesErr, wholeErr.Error())
			return
		}
		require.NoError(rt, halvesErr)
		require.Equal(rt, whole, halves)
	})
}
