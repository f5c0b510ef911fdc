package command

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spirjoin/spirjoin/internal/text"
	"github.com/urfave/cli/v2"
)

// App is the tree of commands and flags.
func (s *Session) App() *cli.App {
	commands := append(s.Commands(s), versionCommand())
	for _, c := range commands {
		prepare(c)
	}
	return &cli.App{
		Name:                      s.Name,
		Usage:                     s.Usage,
		Version:                   Version(),
		Commands:                  commands,
		HideHelpCommand:           true, // `help COMMAND` is turned into `COMMAND --help`
		DisableSliceFlagSeparator: true,
		Writer:                    s.Stdout,
		ErrWriter:                 s.Stderr,
		CustomAppHelpTemplate:     appHelp,
		OnUsageError:              onUsageError,
		ExitErrHandler:            func(*cli.Context, error) {},
	}
}

// prepare sets what all commands have in common.
func prepare(c *cli.Command) {
	c.HideHelpCommand = true
	c.OnUsageError = onUsageError
	c.CustomHelpTemplate = commandHelp
	for _, sub := range c.Subcommands {
		prepare(sub)
	}
}

// flagInError finds the flag that the parser's message names with one dash.
var flagInError = regexp.MustCompile(` for (flag )?-([a-z-]+): `)

func onUsageError(_ *cli.Context, err error, _ bool) error {
	return usageError(flagInError.ReplaceAllStringFunc(err.Error(), func(found string) string {
		return " for flag " + Dashed(flagInError.FindStringSubmatch(found)[2]) + ": "
	}))
}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version", Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return Usagef("version takes no arguments")
			}
			cli.ShowVersion(c)
			return nil
		},
	}
}

const appHelp = `{{.Name}} {{.Usage}}

Usage:
   {{.Name}} COMMAND [flags] [arguments]

Commands:{{range .VisibleCommands}}
   {{printf "%-11s" .Name}}{{.Usage}}{{end}}

   {{.Name}} COMMAND --help describes a command; {{.Name}} --version prints the version.

Exit codes:
   0  done                     4    no device, or something unsupported
   1  internal error           5    a limit was hit
   2  wrong use                6    a device failed
   3  input or output failed   130  interrupted
`

const commandHelp = `{{.HelpName}}: {{.Usage}}

Usage:
   {{if .UsageText}}{{.UsageText}}{{else}}{{.HelpName}}{{if .Subcommands}} COMMAND{{end}}{{if .VisibleFlags}} [flags]{{end}}{{if .ArgsUsage}} {{.ArgsUsage}}{{end}}{{end}}
{{- if .Description}}

{{.Description}}{{end}}{{if .VisibleCommands}}

Commands:{{range .VisibleCommands}}
   {{printf "%-11s" .Name}}{{.Usage}}{{end}}{{end}}{{range .VisibleFlagCategories}}{{if .Name}}

{{.Name}}:{{range .Flags}}
   {{.}}{{end}}{{end}}{{end}}
`

// usageColumns has the text of a flag end in column 100.
const usageColumns = 68

// flagLine is what the help of a command says of a flag, in one line or more.
func flagLine(flag cli.Flag) string {
	f, ok := flag.(cli.DocGenerationFlag)
	if !ok {
		return ""
	}
	names := slices.Clone(f.Names())
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	for i := range names {
		names[i] = Dashed(names[i])
	}
	usage, placeholder := f.GetUsage(), ""
	if before, rest, found := strings.Cut(usage, "`"); found {
		name, after, _ := strings.Cut(rest, "`")
		usage, placeholder = before+name+after, " "+name
		if valueIsOptional(flag) {
			placeholder = "[=" + name + "]"
		}
	}
	usage = text.Fold(usage, usageColumns, fmt.Sprintf("\n%32s", ""))
	return fmt.Sprintf("%-28s %s", strings.Join(names, ", ")+placeholder, usage)
}

func init() { cli.FlagStringer = flagLine }
