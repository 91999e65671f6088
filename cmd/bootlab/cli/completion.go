package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// shells are those that cobra writes a completion for.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Write the completion script of a shell",
		Long: `Write the script with which a shell (bash, zsh, fish, powershell) completes the
command line of bootlab: commands, options, and names of labs, stages, machines,
causes, formats and releases. The packages of bootlab install it. By hand:

  bash  bootlab completion bash > ~/.local/share/bash-completion/completions/bootlab
  zsh   bootlab completion zsh > "${fpath[1]}/_bootlab"
  fish  bootlab completion fish > ~/.config/fish/completions/bootlab.fish

bash needs the package bash-completion. A new shell has it.`,
		Example:           "  source <(bootlab completion bash)",
		ValidArgsFunction: Words(shells...),
		RunE: func(c *cobra.Command, args []string) error {
			root, out := c.Root(), c.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return Unknown(fmt.Errorf("%q is no shell that bootlab has a completion for", args[0]), args[0], shells, "shells: "+Alternatives(shells))
		},
	}
}
