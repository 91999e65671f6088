package generator

import (
	"reflect"
	"testing"
)

func TestAScriptIsCutWhereAnExplanationBegins(t *testing.T) {
	script := `#!/usr/bin/env bash
# title
#
# why
set -e

# shellcheck source=lib.sh
source lib.sh
cat > file << 'EOF'
# part of the file
EOF

# second
run x
`
	want := []Segment{
		{Docs: "", Code: "#!/usr/bin/env bash\n"},
		{Docs: "title\n\nwhy\n", Code: "set -e\n\nsource lib.sh\ncat > file << 'EOF'\n# part of the file\nEOF\n\n"},
		{Docs: "second\n", Code: "run x\n"},
	}
	if got := Segments(script); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestAStepIsOnePieceThatCanBeCopied(t *testing.T) {
	script := `#!/usr/bin/env bash
# title
X=$'a <<EOF\n'
begin "$@"

# Look up.
a=1

if step 1 'It'\''s here'; then
  # why
  cat << 'END'
fi
# no comment
END
  # shellcheck disable=SC1
  run a
fi 9>&-

if step 2 'Again'; then
  run b
fi

finish
`
	want := []Segment{
		{Code: "#!/usr/bin/env bash\n"},
		{Docs: "title\n", Code: "X=$'a <<EOF\\n'\nbegin \"$@\"\n\n"},
		{Docs: "Look up.\n", Code: "a=1\n\n"},
		{Step: "1: It's here", Code: "  # why\n  cat << 'END'\nfi\n# no comment\nEND\n  run a\n"},
		{Code: "\n"},
		{Step: "2: Again", Code: "  run b\n"},
		{Code: "\nfinish\n"},
	}
	if got := Segments(script); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestWhatIsSaidOfFlagsBecomesAList(t *testing.T) {
	got := prose("Why.\n--asset-dir: where\nit is\n--x: y\n\nMore.\n")
	want := "Why.\n\n- `--asset-dir`: where\n  it is\n- `--x`: y\n\nMore."
	if got != want {
		t.Errorf("%q, not %q", got, want)
	}
}
