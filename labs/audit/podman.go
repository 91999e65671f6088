package audit

import "strings"

// option is an option of podman run in its long form.
type option struct {
	name, value string
	when        guard
	line        int
}

// container is a podman run, taken apart.
type container struct {
	options []option
	image   string
	// command are the words behind the image that are no flags.
	command []string
	flags   []flag
}

// flag is a flag of the command in a container, or of one on the host.
type flag struct {
	name, value string
	when        guard
	line        int
	empty       bool // the value is, and was given
}

// longForm are the short and the other names of podman's options.
var longForm = map[string]string{
	"-v": "--volume", "-e": "--env", "-u": "--user", "-q": "--quiet", "-a": "--attach", "-w": "--workdir",
	"-d": "--detach", "-i": "--interactive", "-t": "--tty", "-h": "--hostname", "-l": "--label", "-p": "--publish",
	"-m": "--memory", "--net": "--network",
}

// switches are podman's options that take no value as a word of its own.
var switches = map[string]bool{
	"--quiet": true, "--rm": true, "--rmi": true, "--detach": true, "--interactive": true, "--tty": true, "--privileged": true,
	"--init": true, "--read-only": true, "--read-only-tmpfs": true, "--replace": true, "--no-hosts": true, "--no-hostname": true,
	"--sig-proxy": true, "--tls-verify": true, "--env-host": true, "--http-proxy": true, "--no-healthcheck": true,
	"--oom-kill-disable": true, "--passwd": true, "--publish-all": true, "-P": true, "-it": true, "-ti": true,
}

// assumedBase marks a call of bootkube_podman_run that the script does not
// define: which options it adds is not to be seen.
const assumedBase = "--bootkube-podman-run"

func missingBase() []arg { return []arg{{text: assumedBase}} }

func containerOf(e event) container {
	var c container
	i := 0
	for ; i < len(e.args); i++ {
		a := e.args[i]
		if !strings.HasPrefix(a.text, "-") {
			break
		}
		name, value, joined := strings.Cut(a.text, "=")
		if len(name) > 2 && name[1] != '-' && !switches[name] {
			// A short option with its value behind it, as -v/a:/b.
			name, value, joined = a.text[:2], a.text[2:], true
		}
		if long, ok := longForm[name]; ok {
			name = long
		}
		when := a.when
		if !joined && !switches[name] && name != assumedBase && i+1 < len(e.args) {
			i++
			value = e.args[i].text
			when, _ = when.and(e.args[i].when...)
		}
		c.options = append(c.options, option{name, value, when, a.line})
	}
	if i < len(e.args) {
		c.image = e.args[i].text
		c.command, c.flags = commandLine(e.args[i+1:])
	}
	return c
}

// commandLine tells the words of a command from its flags. A word behind a flag
// without an equals sign is the flag's value.
func commandLine(args []arg) (words []string, flags []flag) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !strings.HasPrefix(a.text, "-") || a.text == "-" {
			words = append(words, a.text)
			continue
		}
		name, value, joined := strings.Cut(a.text, "=")
		if !joined && i+1 < len(args) && !strings.HasPrefix(args[i+1].text, "-") {
			i++
			value = args[i].text
		}
		flags = append(flags, flag{name, value, a.when, a.line, joined && value == ""})
	}
	return words, flags
}

// imageQuestion is the payload name that a podman run asks the release image
// for; empty when it does something else.
func imageQuestion(args []arg) string {
	c := containerOf(event{args: args})
	if c.image == "$RELEASE_IMAGE_DIGEST" && len(c.command) == 2 && c.command[0] == "image" {
		return c.command[1]
	}
	return ""
}
