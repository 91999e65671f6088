package site

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// readIndex undoes what the browser undoes: words with the sections they are in.
func readIndex(t *testing.T, script string) (indexData, map[string][]int) {
	t.Helper()
	script, ok := strings.CutPrefix(script, "var searchIndex = ")
	var data indexData
	if err := json.Unmarshal([]byte(strings.TrimSuffix(script, ";\n")), &data); err != nil || !ok {
		t.Fatal(err)
	}
	words := map[string][]int{}
	var word []rune
	for _, line := range strings.Split(data.Words, "\n") {
		fields := strings.Split(line, " ")
		if line == "" {
			continue
		}
		shared, err := strconv.ParseInt(fields[0][:1], 36, 32)
		if err != nil {
			t.Fatal(err)
		}
		word = append(word[:shared:shared], []rune(fields[0][1:])...)
		at, high := 0, 0
		for _, r := range fields[1] {
			if r >= 'A' && r <= 'Z' {
				high = high*26 + int(r-'A')
				continue
			}
			low, err := strconv.ParseInt(string(r), 36, 32)
			if err != nil {
				t.Fatal(err)
			}
			at += high*36 + int(low)
			high = 0
			words[string(word)] = append(words[string(word)], at)
		}
	}
	return data, words
}

func TestTheIndexKnowsEveryWordOfTheText(t *testing.T) {
	_, files := built(t, source("# etcd\n\nFirst cluster-etcd-operator.\n\n## Checks\n\nA `member-pod` here.\n\n- 启动集群 now\n\n| a | b |\n|--|--|\n| cell | x |\n\n```bash\nsecretword\n```\n\n## Checks\n\nTwice.\n"))
	data, words := readIndex(t, files["search-index.js"])
	section := func(word string) string {
		var at []string
		for _, n := range words[word] {
			head := data.Heads[data.Sections[2*n+1]]
			anchor := usualAnchor(head[0])
			if len(head) == 2 {
				anchor = head[1]
			}
			at = append(at, data.Pages[data.Sections[2*n]][0]+"#"+anchor)
		}
		return strings.Join(at, " ")
	}
	for word, want := range map[string]string{
		"operator": "render-etcd#", "cluster": "render-etcd#", "member": "render-etcd#checks", "pod": "render-etcd#checks", "cell": "render-etcd#checks",
		"启动": "render-etcd#checks", "动集": "render-etcd#checks", "集群": "render-etcd#checks", "text": "make-pki#", "secretword": "", "twice": "render-etcd#checks-1",
	} {
		if got := section(word); got != want {
			t.Errorf("%s is found in %q, want %q", word, got, want)
		}
	}
}

func TestDistancesOfAllSizesAreReadBack(t *testing.T) {
	want := []int{0, 1, 35, 36, 37, 935, 936, 937, 25000}
	text, high := "", 0
	for _, n := range want {
		text += distance(n)
	}
	var got []int
	for _, r := range text {
		if r >= 'A' && r <= 'Z' {
			high = high*26 + int(r-'A')
			continue
		}
		low, _ := strconv.ParseInt(string(r), 36, 32)
		got, high = append(got, high*36+int(low)), 0
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v, want %v", text, got, want)
	}
}

func TestTextIsCutIntoWords(t *testing.T) {
	for text, want := range map[string][]string{
		"Kube-API server, v1.34": {"kube", "api", "server", "v1", "34"},
		"/etc/kubernetes/x":      {"etc", "kubernetes"},
		"启动":                     {"启动"},
		"群 etcd启动的":              {"群", "etcd", "启动", "动的"},
		"Größe":                  {"größe"},
		strings.Repeat("f", 64):  nil,
	} {
		if got := searchWords(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
