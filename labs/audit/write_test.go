package audit

import (
	"fmt"
	"slices"
	"strings"

	"bootlab/labs"
)

// The tests write scripts like bootkube.sh from stage data, in several styles
// of shell. What such a script does is known, so a change of the data before it
// is written is a change of the script of which the audit must tell.

// style chooses among ways to write the same thing.
type style struct {
	flags  int // continued lines, array, string, heredoc, function's arguments
	copies int // one by one, loop over a heredoc, function, loop over pairs
	frame  int // if, early return in a function, runner, [[ ]] && { }
	quotes int // which quotes
}

func (s style) String() string {
	return fmt.Sprintf("flags %d, copies %d, frame %d, quotes %d", s.flags, s.copies, s.frame, s.quotes)
}

var styles = func() []style {
	var out []style
	for n := range 5 * 4 * 4 * 2 {
		out = append(out, style{n % 5, n / 5 % 4, n / 20 % 4, n / 80})
	}
	return out
}()

// writing is one script on its way to text.
type writing struct {
	text strings.Builder
	style
	release string
	data    *labs.Bootkube
}

func (w *writing) line(format string, args ...any) { fmt.Fprintf(&w.text, format+"\n", args...) }

// writeScript writes the script of a release's stages.
func writeScript(b *labs.Bootkube, release string, stages []*labs.Stage, s style) string {
	w := &writing{style: s, release: release, data: b}
	w.head()
	w.versions()
	for _, st := range stages {
		w.stage(st)
		if st.ID == "restore-cvo-overrides" {
			w.line(`if [ "$BOOTSTRAP_INPLACE" != true ]; then rm --force /etc/kubernetes/manifests/machineconfigoperator-bootstrap-pod.yaml; fi`)
		}
	}
	w.line("touch /opt/openshift/.bootkube.done")
	w.line(`echo "bootkube.service complete"`)
	return w.text.String()
}

func (w *writing) quote(text string) string {
	if w.quotes == 1 && !strings.ContainsAny(text, "$") {
		return "'" + text + "'"
	}
	return `"` + text + `"`
}

func (w *writing) head() {
	w.line("#!/bin/bash\n%s\n. /usr/local/bin/bootstrap-service-record.sh\nBOOTSTRAP_INPLACE=false", w.data.ShellOptions)
	for _, dir := range w.data.Mkdir {
		w.line("mkdir -p %s", dir)
	}
	var base []string
	for _, o := range w.data.Podman {
		if o.Holds(w.release) {
			base = append(base, o.Option)
		}
	}
	w.line("bootkube_podman_run() {\n  podman run %s \"$@\"\n}", strings.Join(base, " "))
	for _, v := range w.data.Images {
		if v.Holds(w.release) {
			w.line("%s=$(image_for %s)", v.Variable, v.Name)
		}
	}
	switch w.frame {
	case 1:
		w.line("is_done() { [ -f \"$1\" ]; }")
	case 2:
		w.line("run_stage() {\n  local name=$1 marker=$2 work=$3\n  if [ ! -f \"$marker\" ]; then\n    record_service_stage_start \"$name\"\n    \"$work\"\n    touch \"$marker\"\n    record_service_stage_success\n  fi\n}")
	}
	if w.copies == 2 {
		w.line("bring_one() {\n  local from=$1 to=$2; shift 2\n  cp \"$@\" $from \"$to\"\n}")
	}
}

func (w *writing) versions() {
	w.line("MIRROR_FLAG=''")
	w.line("ICSP=\"$PWD/manifests/image-content-source-policy.yaml\"; IDMS=\"$PWD/manifests/image-digest-mirror-set.yaml\"")
	w.line("if [ -f \"$ICSP\" ]; then MIRROR_FLAG=--icsp-file=$ICSP\nelif [[ -f $IDMS ]]; then MIRROR_FLAG=\"--idms-file=$IDMS\"; fi")
	for _, v := range w.data.Variables {
		if _, path, ok := strings.Cut(v.Value, "oc adm release info, jsonpath "); ok && v.Holds(w.release) {
			w.line("%s=$(oc adm release info -o jsonpath='%s' \"${MIRROR_FLAG}\" \"${RELEASE_IMAGE_DIGEST}\")", v.Name, path)
		}
	}
	w.line("ETCD_ENDPOINTS=%s", w.quote("https://localhost:2379"))
	w.line("CLUSTER_PROFILE_ANNOTATION=self-managed-high-availability")
}

// stage writes a stage in its frame.
func (w *writing) stage(s *labs.Stage) {
	if s.Kind == "check" {
		w.check(s)
		return
	}
	body := &writing{style: w.style, release: w.release, data: w.data}
	body.body(s)
	if s.When.InPlace != nil {
		yes := "true"
		if !*s.When.InPlace {
			yes = "false"
		}
		if w.quotes == 1 && yes == "false" {
			w.line("if [ \"$BOOTSTRAP_INPLACE\" != true ]; then")
		} else {
			w.line("if [ \"$BOOTSTRAP_INPLACE\" = %s ]; then", yes)
		}
		defer w.line("fi")
	}
	marker, made := s.SkipIf, false
	if len(s.Markers) > 0 {
		marker, made = s.Markers[0].File, true
	}
	if marker == "" {
		w.line("record_service_stage_start %s\n%s\nrecord_service_stage_success", s.Bootkube, body.text.String())
		return
	}
	w.framed(s.Bootkube, marker, body.text.String(), made)
}

func (w *writing) framed(name, marker, body string, made bool) {
	touch := "touch " + marker
	if !made {
		touch = ":"
	}
	function := "do_" + strings.ReplaceAll(name, "-", "_")
	switch {
	case w.frame == 1:
		w.line("%s() {\n  if is_done %s; then return 0; fi\n  record_service_stage_start %s\n%s\n  %s\n  record_service_stage_success\n}\n%s", function, marker, name, body, touch, function)
	case w.frame == 2 && made:
		w.line("%s() {\n%s\n}\nrun_stage %s %s %s", function, body, name, marker, function)
	case w.frame == 3:
		w.line("[[ -f %s ]] || {\n  record_service_stage_start %s\n%s\n  %s\n  record_service_stage_success\n}", marker, name, body, touch)
	default:
		w.line("if [ ! -f %s ]\nthen\n  record_service_stage_start %q\n%s\n  %s\n  record_service_stage_success\nfi", marker, name, body, touch)
	}
}

func (w *writing) check(s *labs.Stage) {
	function, _, _ := strings.Cut(s.Bootkube, "-api-")
	line := s.Log
	if len(s.Markers) == 0 {
		line = "Check if API and API-Int URLs are " + strings.TrimPrefix(s.Log, "Check if API URL is ")
	}
	w.line("echo %s", w.quote(line))
	for i, name := range []string{"api", "api-int"} {
		call := fmt.Sprintf("%s_url %s_URL %s.mylab.example.test", function, strings.ToUpper(strings.ReplaceAll(name, "-", "_")), name)
		if len(s.Markers) == 0 {
			w.line("%s", call)
			continue
		}
		w.line("if [ ! -f %[1]s ]; then\n  if %[2]s; then touch %[1]s; fi\nfi", s.Markers[i%len(s.Markers)].File, call)
	}
}

func (w *writing) body(s *labs.Stage) {
	if s.Log != "" {
		w.line("echo %s", w.quote(s.Log))
	}
	if s.RemoveFirst != "" {
		w.line("rm -rf %s", s.RemoveFirst)
	}
	if s.ID == "render-mco" {
		w.line("podman run --quiet --rm --net=none --entrypoint=cat \"${RELEASE_IMAGE_DIGEST}\" /release-manifests/image-references > image-references")
	}
	if s.Run != nil {
		w.container(s)
	}
	if s.Command != nil && s.Kind == "patch" {
		w.line("until %s", s.Command.Line+continued(s.Command.Flags))
		w.line("do sleep %s; echo again; done", number(s.Retry))
	}
	for _, dir := range s.Mkdir {
		w.line("mkdir --parents %s", dir)
	}
	w.copyAll(s.Copies)
}

func continued(flags []labs.Flag) string {
	text := ""
	for _, f := range flags {
		text += " \\\n  " + f.String()
	}
	return text
}

func number(retry string) string { return strings.Fields(retry + " 5 5")[1] }

// container writes a podman run: its words unconditional and conditional.
func (w *writing) container(s *labs.Stage) {
	r := s.Run
	image := "$RELEASE_IMAGE_DIGEST"
	for _, v := range w.data.Images {
		if v.Name == r.Image && v.Holds(w.release) {
			image = "$" + v.Variable
		}
	}
	volume := r.Volume
	if volume == "" {
		volume = "$PWD:/assets:z"
	}
	options := []string{"--name", r.Name, "--volume", volume}
	for _, o := range r.Options {
		if list, ok := strings.CutPrefix(o.Option, "overlay (:O) volume per existing directory of: "); ok {
			w.line("tmp=$(mktemp -d)\noverlays=()\nfor d in %s; do\n  if [ -d \"$d\" ]; then mkdir -p \"$tmp/$d\"; overlays+=(-v \"$d:$d:O,upperdir=$tmp/$d\"); fi\ndone", list)
			options = append(options, "\"${overlays[@]}\"")
			continue
		}
		if !o.When.ClusterProfile {
			options = append(options, strings.Fields(o.Option)...)
		}
	}
	first := append(options, image)
	first = append(first, strings.Fields(r.Command)...)
	var words, conditional []labs.Flag
	for _, f := range r.Flags {
		if f.When.File != "" || f.When.InPlace != nil {
			conditional = append(conditional, f)
		} else {
			words = append(words, f)
		}
	}
	w.flagsOf(s, first, words, conditional)
}

func (w *writing) condition(c labs.Condition) string {
	switch {
	case c.File != "" && w.quotes == 1:
		return "[[ -f $PWD/" + c.File + " ]]"
	case c.File != "":
		return "[ -f \"" + c.File + "\" ]"
	case c.InPlace != nil && bool(*c.InPlace):
		return "[ \"$BOOTSTRAP_INPLACE\" = true ]"
	case c.InPlace != nil:
		return "[ \"$BOOTSTRAP_INPLACE\" != true ]"
	case c.Dir != "":
		return "[ -d " + c.Dir + " ]"
	case c.NotEmpty != "":
		return "[ -n \"$(ls -A " + c.NotEmpty + ")\" ]"
	}
	return "true"
}

func (w *writing) flagsOf(s *labs.Stage, first []string, words, conditional []labs.Flag) {
	run := "bootkube_podman_run"
	before, after := "", ""
	switch {
	case s.Kind == "start":
		before, after = "if ", "\nthen :\nelse\n  ret=$?\n  cluster_bootstrap_gather\n  exit $ret\nfi"
	case s.Retry != "":
		before, after = "until ", "\ndo\n  sleep "+number(s.Retry)+"\ndone"
	}
	switch w.flags {
	case 1:
		w.line("args=()")
		for _, f := range words {
			w.line("args+=(%s)", w.flagText(f))
		}
		w.conditional(conditional, func(f labs.Flag) string { return "args+=(" + w.flagText(f) + ")" })
		w.line("%s%s %s \"${args[@]}\"%s", before, run, strings.Join(first, " "), after)
	case 2:
		w.line("FLAGS=\"\"")
		for _, f := range words {
			w.line("FLAGS=\"$FLAGS %s\"", f)
		}
		w.conditional(conditional, func(f labs.Flag) string { return "FLAGS+=\" " + strings.ReplaceAll(f.String(), `""`, "") + "\"" })
		w.line("%s%s %s $FLAGS%s", before, run, strings.Join(first, " "), after)
	case 3:
		w.line("EXTRA=()\nmapfile -t LINES_ <<END_OF_FLAGS")
		for _, f := range words {
			w.line("%s", strings.ReplaceAll(f.String(), " ", "="))
		}
		w.line("END_OF_FLAGS")
		w.conditional(conditional, func(f labs.Flag) string { return "EXTRA+=(" + w.flagText(f) + ")" })
		w.line("%s%s %s \"${LINES_[@]}\" ${EXTRA[@]+\"${EXTRA[@]}\"}%s", before, run, strings.Join(first, " "), after)
	case 4:
		w.line("set --")
		w.line("launch() {\n  bootkube_podman_run %s \"$@\"\n}", strings.Join(first, " "))
		w.line("EXTRA=''")
		w.conditional(conditional, func(f labs.Flag) string {
			return "EXTRA=\"${EXTRA} " + strings.ReplaceAll(f.String(), `""`, "") + "\""
		})
		w.line("%slaunch %s $EXTRA%s", before, strings.TrimSpace(strings.ReplaceAll(continued(words), "\\\n", "")), after)
	default:
		w.line("ADDITIONAL=()")
		w.conditional(conditional, func(f labs.Flag) string { return "ADDITIONAL+=(" + w.flagText(f) + ")" })
		w.line("%s%s \\\n    %s%s \\\n  \"${ADDITIONAL[@]}\"%s", before, run, strings.Join(first, " \\\n    "), continued(words), after)
	}
}

func (w *writing) flagText(f labs.Flag) string {
	if f.Value == "" {
		return f.Flag
	}
	return f.Flag + "=" + w.quote(strings.Trim(f.Value, `"`))
}

func (w *writing) conditional(flags []labs.Flag, text func(labs.Flag) string) {
	for _, f := range flags {
		w.line("if %s; then\n  %s\nfi", w.condition(f.When), text(f))
	}
}

func (w *writing) copyAll(copies []labs.Copy) {
	for i := 0; i < len(copies); {
		j := i + 1
		platforms := copies[i].When.Platforms
		for len(platforms) > 0 && j < len(copies) && slices.Equal(copies[j].When.Platforms, platforms) {
			j++
		}
		for _, p := range append(slices.Clone(platforms), "")[:max(1, len(platforms))] {
			for _, c := range copies[i:j] {
				w.copyOne(c, p)
			}
		}
		i = j
	}
}

func (w *writing) copyOne(c labs.Copy, platform string) {
	here := func(t string) string { return strings.ReplaceAll(t, "<platform>", platform) }
	option := ""
	if c.Recursive {
		option = "--recursive "
	}
	when := c.When
	when.Dir, when.Platforms = here(when.Dir), nil
	conditional := when.Dir != "" || when.File != "" || when.NotEmpty != ""
	if conditional {
		w.line("if %s; then", w.condition(when))
		defer w.line("fi")
	}
	from, to := here(c.From), here(c.To)
	switch w.copies {
	case 1:
		w.line("while read -r from to; do cp %s$from \"$to\"; done <<'PAIRS'\n%s %s\nPAIRS", option, from, to)
	case 2:
		w.line("bring_one '%s' %s %s", from, to, option)
	case 3:
		w.line("for from in %s; do cp %s\"$from\" \"%s\"; done", from, option, to)
	default:
		w.line("cp %s%s %s", option, from, to)
	}
}
