package vms

import (
	"fmt"
	"path"

	"bootlab/labs"
)

// Command is a line of shell, and what it is for.
type Command struct {
	Why, Line string
}

// Commands are what up does, as one would type it in the output directory, with
// the definitions of [Files]. IMAGE names the disk image.
func Commands(lab *labs.Lab) []Command {
	own := LabPool(lab)
	out := []Command{
		{"The image, and the hash of its content, which is its name in the pool.",
			`sum="$(sha256sum < "${IMAGE}" | cut --characters=1-64)" size="$(stat --format=%s "${IMAGE}")"`},
		{"The directory for base images, once for all labs of the host.",
			fmt.Sprintf("virsh pool-info %s > /dev/null || { %s; }", Pool, poolCommands(Pool, "pool-base"))},
		{"", fmt.Sprintf(`virsh vol-info --pool %[1]s "base-${sum}.qcow2" > /dev/null || { virsh vol-create-as %[1]s "base-${sum}.qcow2" "${size}" --format raw && virsh vol-upload --pool %[1]s "base-${sum}.qcow2" "${IMAGE}"; }`, Pool)},
		{"The directory of this lab.", poolCommands(own, "pool")},
		{"The network: addresses, names, and the way out.", "virsh net-define vms/network.xml"},
		{"", "virsh net-start " + NetworkName(lab)},
		{"The load balancer listens on the network's gateway, so it comes after it.",
			fmt.Sprintf("mkdir --parents %s && haproxy -D -f vms/haproxy.cfg", path.Dir(labs.BalancerSocket))},
	}
	for i, m := range Machines(lab) {
		why := func(text string) string {
			if i > 0 {
				return m.Name
			}
			return m.Name + ": " + text
		}
		ignition := "work/assets/ignition/" + string(m.Role) + ".ign"
		volume := IgnitionVolume(lab, m.Name)
		out = append(out,
			Command{why("its Ignition file, a disk over the base image, and the machine itself."),
				fmt.Sprintf(`virsh vol-create-as %s %s "$(stat --format=%%s %s)" --format raw`, own, volume, ignition)},
			Command{"", fmt.Sprintf("virsh vol-upload --pool %s %s %s", own, volume, ignition)},
			Command{"", fmt.Sprintf(`virsh vol-create %s <(sed "s/%s/${sum}/" vms/disk-%s.xml)`, own, unknownImage.SHA256, m.Name)},
			Command{"", fmt.Sprintf(`virsh define <(sed "s/%s/${sum}/" vms/domain-%s.xml)`, unknownImage.SHA256, m.Name)})
	}
	return append(out, Command{"The others wait until the Machine Config Server answers.",
		"virsh start " + lab.DomainName(lab.Machines.Bootstrap.Name)})
}

func poolCommands(pool, file string) string {
	return fmt.Sprintf("virsh pool-define vms/%[2]s.xml && virsh pool-build %[1]s && virsh pool-start %[1]s", pool, file)
}
