package standin

import (
	"fmt"
	"strings"

	"bootlab/standin/facts"
	"bootlab/standin/role"
)

// constants are the variables of bootkube.sh that hold no image.
func (r *Release) constants() map[string]string {
	return map[string]string{
		"VERSION": r.Version, "KUBERNETES_VERSION": r.Kubernetes,
		"ETCD_ENDPOINTS":             "https://localhost:2379",
		"CLUSTER_PROFILE_ANNOTATION": "self-managed-high-availability",
	}
}

// addImages adds the variables that hold images, as far as they are built.
func (r *Release) addImages(variables map[string]string, list *facts.Facts) {
	for variable, payload := range list.Images(r.ID) {
		if spec := r.Images[payload]; spec != "" {
			variables[variable] = spec
		}
	}
}

// Call gives image and arguments with which bootkube.sh runs one of its stages,
// without the flags that hang on a file.
func (r *Release) Call(stage string) (image string, args []string, err error) {
	list, err := facts.Load()
	if err != nil {
		return "", nil, err
	}
	name, call, there := list.CallOf(r.ID, stage)
	if !there {
		return "", nil, fmt.Errorf("bootkube.sh of %s has no stage %s", r.ID, stage)
	}
	known := role.Role{Variables: r.constants()}
	r.addImages(known.Variables, list)
	known.Variables["RELEASE_IMAGE_DIGEST"] = r.Image
	args = strings.Fields(call.Command)
	for _, f := range call.Flags {
		value, sure := known.Expand(f.Value)
		switch {
		case f.WhenFile != "":
		case !sure:
			return "", nil, fmt.Errorf("%s: it is not known what --%s=%s holds", stage, f.Name, f.Value)
		case f.Value == "":
			args = append(args, "--"+f.Name)
		default:
			args = append(args, "--"+f.Name+"="+value)
		}
	}
	if name == "release" {
		return r.Image, args, nil
	}
	return r.Images[name], args, nil
}
