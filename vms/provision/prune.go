package provision

import (
	"path"
	"strings"

	"bootlab/vms"
	"bootlab/vms/libvirt"
)

// PruneBases removes the base images from the shared pool that no disk on the
// host stands on, and what killed probes left there. Whatever cannot be seen
// counts as used.
func PruneBases(host libvirt.Host, each func(libvirt.VolumeState)) error {
	pools, err := host.Pools()
	if err != nil {
		return err
	}
	used, err := standing(host, pools)
	if err != nil {
		return err
	}
	for _, pool := range pools {
		if pool.Name != vms.Pool || pool.Dir != vms.PoolDir {
			continue
		}
		for _, name := range pool.Volumes {
			if !strings.HasPrefix(name, vms.BasePrefix) && !strings.HasPrefix(name, probePrefix) || used[path.Join(vms.PoolDir, name)] {
				continue
			}
			state, there, err := host.Volume(vms.Pool, name)
			if err != nil || !there {
				return err
			}
			if err := host.RemoveVolume(vms.Pool, name); err != nil {
				return err
			}
			each(state)
		}
	}
	return nil
}

// standing are the files that a disk or a machine of the host uses, whoever made
// it.
func standing(host libvirt.Host, pools []libvirt.PoolState) (map[string]bool, error) {
	used := map[string]bool{}
	domains, err := host.Domains()
	if err != nil {
		return nil, err
	}
	for _, pool := range pools {
		if !pool.Active && strings.HasPrefix(pool.Dir, vms.PoolDir) {
			return nil, &vms.Problem{Message: "storage pool " + pool.Name + " is not started, so its disks cannot be seen",
				Hint: "virsh --connect qemu:///system pool-start " + pool.Name}
		}
		for _, name := range pool.Volumes {
			state, there, err := host.Volume(pool.Name, name)
			if err != nil {
				return nil, err
			}
			if there && state.Backing != "" {
				used[state.Backing] = true
			}
			for _, d := range domains {
				if there && strings.Contains(d.XML, "'"+state.Path+"'") {
					used[state.Path] = true
				}
			}
		}
	}
	return used, nil
}
