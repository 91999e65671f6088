package machines

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/vms/provision"
)

func newVMsBalancerCommand(io cli.Streams) *cobra.Command {
	var uri string
	var format *cli.Format
	var with, without bool
	c := &cobra.Command{
		Use:   "balancer LAB",
		Short: "Show which machines the load balancer sends to, and take the bootstrap out",
		Long: `Show every server of the lab's load balancer as HAProxy sees it. The bootstrap is
a backup: it gets connections as long as no master answers. To take it out for
good is the work of remove-bootstrap.sh, which asks the cluster first;
--without-bootstrap does only what it tells HAProxy, and --with-bootstrap undoes
that.

In a lab that was made with bootlab vms up --no-balancer it shows where the names
of the cluster lead. --without-bootstrap leads api and api-int to all masters,
--with-bootstrap back to the bootstrap alone, at once and for every later start of
the network. The cluster is not asked before. The moment is the end of
start-bootstrap.sh: the bootstrap's API server is gone then, and the masters have
their own. Names have no health checks: a master that is down is still answered
with.`,
		Example: "  bootlab vms balancer mylab\n  bootlab vms balancer mylab --without-bootstrap",
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := openMachines(io, args[0], uri, !with && !without)
			if err != nil {
				return err
			}
			defer p.close()
			serve, show := p.Balancer().ServeBootstrap, printServers
			if p.NoBalancer {
				serve, show = p.LeadAPI, printLeads
			}
			if with || without {
				if err := serve(with); err != nil {
					return cli.VmsError(err)
				}
			}
			return show(io, p.Provisioner, format)
		},
	}
	connectFlag(c, &uri)
	c.Flags().BoolVar(&without, "without-bootstrap", false, "send nothing more to the bootstrap")
	c.Flags().BoolVar(&with, "with-bootstrap", false, "send to the bootstrap again")
	c.MarkFlagsMutuallyExclusive("with-bootstrap", "without-bootstrap")
	format = cli.FormatFlag(c, cli.Text, cli.JSON)
	return c
}

func printServers(io cli.Streams, p *provision.Provisioner, format *cli.Format) error {
	servers, err := p.Balancer().Servers()
	if err != nil {
		return cli.VmsError(err)
	}
	if format.Is(cli.JSON) {
		return cli.WriteJSON(io.Out, servers)
	}
	table := tabwriter.NewWriter(io.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SERVICE\tMACHINE\tSTATE\tCHECK\tSESSIONS")
	for _, s := range servers {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", s.Backend, s.Machine, s.State, orDash(s.Check), s.Sessions)
	}
	return table.Flush()
}

// printLeads shows what a lab has in place of a load balancer.
func printLeads(io cli.Streams, p *provision.Provisioner, format *cli.Format) error {
	leads, err := p.Leads()
	if err != nil {
		return cli.VmsError(err)
	}
	if format.Is(cli.JSON) {
		return cli.WriteJSON(io.Out, leads)
	}
	fmt.Fprintln(io.Out, "the lab has no load balancer; its names lead straight to machines")
	table := tabwriter.NewWriter(io.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tADDRESS\tMACHINE")
	for _, l := range leads {
		fmt.Fprintf(table, "%s\t%s\t%s\n", l.Name, l.Address, orDash(l.Machine))
	}
	return table.Flush()
}
