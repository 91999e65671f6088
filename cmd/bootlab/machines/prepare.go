package machines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/vms"
	"bootlab/vms/access"
	"bootlab/vms/doctor"
	"bootlab/vms/images"
	"bootlab/vms/provision"
	"bootlab/vms/state"
)

// preparation is what up is told about image, processor and load balancer.
type preparation struct {
	image        string
	emulate, kvm bool
	skipDoctor   bool
	noBalancer   *bool // nil: as the lab was made, or with one
}

func (w *preparation) flags(c *cobra.Command) {
	c.Flags().StringVar(&w.image, "image", "", "disk image that every machine starts from (default the one that bootlab vms image fetch got)")
	c.Flags().BoolVar(&w.emulate, "emulate", false, "run processors in software, whatever the host can do")
	c.Flags().BoolVar(&w.kvm, "kvm", false, "run processors with KVM, proven or not")
	c.MarkFlagsMutuallyExclusive("emulate", "kvm")
	c.Flags().BoolFunc("no-balancer", "let the names lead straight to the machines, without HAProxy", func(text string) error {
		without, err := strconv.ParseBool(text)
		w.noBalancer = &without
		return err
	})
}

// do finds image, processor, Ignition files and keys, and says what stands in
// the way.
func (w *preparation) do(ctx context.Context, io cli.Streams, p *provision.Provisioner) error {
	facts, err := w.look(ctx, p, nil)
	if err != nil {
		return err
	}
	findings, err := doctor.Judge(facts)
	if err != nil {
		return err
	}
	if failed := printFindings(io.Err, findings, false); failed > 0 && !w.skipDoctor {
		return &vms.Problem{Message: fmt.Sprintf("%d checks failed, and nothing was created", failed),
			Hint: "fix them; bootlab doctor " + p.Lab.Dir + " looks again, --skip-doctor goes on all the same"}
	}
	if facts.ImageProblem != nil {
		return facts.ImageProblem
	}
	if w.image != "" {
		if err := images.Remember(p.State, p.Base); err != nil {
			return err
		}
	}
	if err := p.RememberBalancer(); err != nil {
		return err
	}
	if err := access.Make(p.State, p.Lab); err != nil {
		return err
	}
	p.Ignition = func(m vms.Machine) ([]byte, error) {
		original, err := os.ReadFile(ignitionFile(p.Lab.Dir, m.Role))
		if errors.Is(err, os.ErrNotExist) {
			return nil, &vms.Problem{Message: "there is no Ignition file for " + m.Name, Err: err, Hint: "run out/scripts/make-ignition.sh first"}
		}
		if err != nil {
			return nil, err
		}
		return access.Ignition(p.State, m, original)
	}
	return nil
}

// look gathers what up has to know of the host; connect is why libvirt does not
// answer, and p then has no host.
func (w *preparation) look(ctx context.Context, p *provision.Provisioner, connect error) (*doctor.Facts, error) {
	var problem error
	if p.Base, problem = w.base(ctx, p.State); ctx.Err() != nil {
		return nil, ctx.Err()
	}
	proof, err := w.processor(ctx, p, connect)
	if err != nil {
		return nil, err
	}
	switch {
	case connect == nil:
		if err := p.ChooseBalancer(w.noBalancer); err != nil {
			return nil, err
		}
	case w.noBalancer != nil:
		p.NoBalancer = *w.noBalancer
	}
	facts, err := doctor.Look(ctx, p, connect, func(r vms.Role) string { return ignitionFile(p.Lab.Dir, r) })
	if err != nil {
		return nil, err
	}
	facts.ImageProblem, facts.Proof, facts.Asked = problem, proof, w.emulate || w.kvm
	return facts, nil
}

// processor chooses KVM where it is proven, unless the command line chose.
func (w *preparation) processor(ctx context.Context, p *provision.Provisioner, connect error) (proof provision.KVMProof, err error) {
	p.Run = vms.KVM
	if connect == nil && !w.emulate {
		proof, err = p.ProveKVM(ctx)
	}
	if w.emulate || !w.kvm && connect == nil && !proof.Works {
		p.Run = vms.Emulated
	}
	return proof, err
}

// ignitionFile is what make-ignition.sh wrote for machines of a role.
func ignitionFile(dir string, role vms.Role) string {
	return filepath.Join(dir, "out", "work", "assets", "ignition", string(role)+".ign")
}

// base is the image that was named, or else the lab's.
func (w *preparation) base(ctx context.Context, s *state.Dir) (vms.Image, error) {
	image, there, err := images.Remembered(s)
	switch {
	case err != nil && w.image == "":
		return vms.Image{}, err
	case w.image == "" && !there:
		return vms.Image{}, &vms.Problem{Message: "the lab has none", Hint: "bootlab vms image fetch LAB gets the one of its release; --image FILE takes another"}
	case w.image == "":
		return images.Same(ctx, image)
	}
	file, err := filepath.Abs(w.image)
	if err != nil {
		return vms.Image{}, err
	}
	return images.Open(ctx, file)
}
