package cli

import (
	"github.com/spf13/cobra"
)

// Words completes an argument or the value of a flag with one of these words.
func Words(words ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}
