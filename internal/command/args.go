package command

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/spirjoin/spirjoin/internal/text"
)

// arrange brings a command line into the order that the flag parser understands, which is the flags before the other
// arguments: people write `join a b --on k`. It also finds unknown commands and flags and missing values, and turns
// `help COMMAND` and `COMMAND ARGUMENTS --help` into `COMMAND --help`. The words of a command that parses no flags stay
// as they are.
func arrange(app *cli.App, args []string) ([]string, error) {
	if len(args) == 0 {
		args = []string{app.Name}
	}
	words := args[1:]
	if len(words) > 0 && words[0] == "help" {
		words = append(slices.Clone(words[1:]), "--help")
	}
	path, flags, commands := []string{args[0]}, slices.Concat(app.Flags, []cli.Flag{cli.HelpFlag, cli.VersionFlag}),
		app.Commands
	for len(words) > 0 && len(commands) > 0 && !isFlag(words[0]) {
		c, err := findCommand(commands, words[0])
		if err != nil {
			return nil, err
		}
		path = append(path, c.Name)
		if c.SkipFlagParsing {
			return append(path, words[1:]...), nil
		}
		flags, commands, words = slices.Concat(c.Flags, []cli.Flag{cli.HelpFlag}), c.Subcommands, words[1:]
	}
	var options, others []string
	help, given := false, make(map[cli.Flag]bool)
	for len(words) > 0 {
		words = slices.Concat(separate(flags, words[0]), words[1:])
		word := words[0]
		words = words[1:]
		if word == "--" {
			others = append(others, words...)
			break
		}
		if !isFlag(word) {
			others = append(others, word)
			continue
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(word, "-"), "=")
		flag, err := findFlag(flags, word, strings.Join(append([]string{app.Name}, path[1:]...), " "))
		if err != nil {
			return nil, err
		}
		if given[flag] && !mayRepeat(flag) {
			return nil, Usagef("flag %s is given twice", Dashed(name))
		}
		given[flag] = true
		help = help || flag == cli.HelpFlag
		if !hasValue && valueIsOptional(flag) {
			word, hasValue = word+"=", true
		}
		options = append(options, word)
		if takes, ok := flag.(cli.DocGenerationFlag); ok && takes.TakesValue() && !hasValue {
			if len(words) == 0 {
				return nil, Usagef("flag %s needs a value", Dashed(name))
			}
			options = append(options, words[0])
			words = words[1:]
		}
	}
	if len(others) > 0 && len(commands) > 0 {
		return nil, Usagef("%q must come before the flags; it is not an argument of %s", others[0],
			strings.Join(path, " "))
	}
	if help { // of the command; the parser takes an argument beside it for a topic
		return append(path, "--help"), nil
	}
	arranged := append(path, options...)
	if len(others) > 0 {
		arranged = append(append(arranged, "--"), others...)
	}
	return arranged, nil
}

// valueIsOptional tells whether a flag may be given without a value, because its type has a method ValueIsOptional. A
// value, if any, follows behind =.
func valueIsOptional(flag cli.Flag) bool {
	generic, ok := flag.(*cli.GenericFlag)
	if ok {
		_, ok = generic.Value.(interface{ ValueIsOptional() })
	}
	return ok
}

// separate takes flags of one letter apart that are written together, as in -qo FILE.
func separate(flags []cli.Flag, word string) []string {
	letters := strings.TrimPrefix(word, "-")
	if !isFlag(word) || strings.HasPrefix(letters, "-") || flagNamed(flags, letters) != nil {
		return []string{word}
	}
	var separated []string
	for _, letter := range letters {
		if flagNamed(flags, string(letter)) == nil {
			return []string{word}
		}
		separated = append(separated, "-"+string(letter))
	}
	return separated
}

// mayRepeat tells of a flag whether it may be given again: if it takes no value, or several.
func mayRepeat(flag cli.Flag) bool {
	switch flag := flag.(type) {
	case *cli.BoolFlag, *cli.StringSliceFlag:
		return true
	case *cli.GenericFlag:
		_, several := flag.Value.(*Names)
		return several || valueIsOptional(flag)
	}
	return false
}

func flagNamed(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

func isFlag(word string) bool { return len(word) > 1 && word[0] == '-' }

func findCommand(commands []*cli.Command, name string) (*cli.Command, error) {
	names := []string{"help"}
	for _, c := range commands {
		if c.HasName(name) {
			return c, nil
		}
		names = append(names, c.Name)
	}
	if near, ok := text.Nearest(name, names); ok {
		return nil, Usagef("unknown command %q; did you mean %q?", name, near)
	}
	return nil, Usagef("unknown command %q; there are %s", name, strings.Join(names, ", "))
}

func findFlag(flags []cli.Flag, word, command string) (cli.Flag, error) {
	written, _, _ := strings.Cut(word, "=")
	name := strings.TrimLeft(written, "-")
	if f := flagNamed(flags, name); f != nil {
		return f, nil
	}
	var names []string
	for _, f := range flags {
		names = append(names, f.Names()...)
	}
	if near, ok := text.Nearest(name, names); ok {
		return nil, Usagef("unknown flag %s; did you mean %s?", written, Dashed(near))
	}
	return nil, Usagef("unknown flag %s; see %s --help", written, command)
}

// Dashed is a flag as users write it.
func Dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
