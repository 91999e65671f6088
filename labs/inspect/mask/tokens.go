package mask

import (
	"bytes"
	"strings"
)

// token is a secret that its first characters tell. What they are is public: the
// services document them so that scanners find leaks. Source: the rules of
// gitleaks (config/gitleaks.toml) and TruffleHog (pkg/detectors), and the
// services' own pages.
type token struct {
	prefix string
	chars  string // the characters behind the prefix, besides those of a word
	least  int    // how many of them there are
	whole  bool   // no letter or digit stands before the prefix
}

var tokens = []token{
	// Code and packages.
	{"ghp_", "", 20, false}, {"gho_", "", 20, false}, {"ghs_", "", 20, false}, {"ghu_", "", 20, false}, {"ghr_", "", 20, false},
	{"github_pat_", "_", 22, false},
	{"glpat-", "-_.", 16, false}, {"glrt-", "-_.", 16, false}, {"gldt-", "-_", 16, false}, {"glcbt-", "-_", 16, false}, {"glagent-", "-_", 32, false},
	{"glptt-", "-_", 20, false}, {"glft-", "-_", 16, false}, {"glimt-", "-_", 16, false}, {"gloas-", "-_", 32, false}, {"glsoat-", "-_", 16, false},
	{"glffct-", "-_", 16, false}, {"GR1348941", "-_", 16, false},
	{"npm_", "", 36, true}, {"pypi-AgE", "-_", 40, false}, {"rubygems_", "", 40, false}, {"CLOJARS_", "", 50, false},
	{"AKCp", "", 60, true}, {"cmVmd", "", 55, true}, {"ATATT3", "-_=", 100, true}, {"ATCTT3", "-_=", 100, true}, {"ATBB", "", 28, true},
	{"sgp_", "_", 40, true}, {"squ_", "", 40, true}, {"sqp_", "", 40, true}, {"sqa_", "", 40, true},
	// Registries and clusters.
	{"dckr_pat_", "-_", 20, false}, {"dckr_oat_", "-_", 20, false}, {"sha256~", "-_", 16, false}, {"rpat-", "", 20, true},
	{"hvs.", "-_", 20, true}, {"hvb.", "-_", 20, true}, {"hvr.", "-_", 20, true}, {"AGE-SECRET-KEY-1", "", 20, false},
	{"pul-", "", 40, true}, {"dop_v1_", "", 40, false}, {"doo_v1_", "", 40, false}, {"dor_v1_", "", 40, false},
	{"fo1_", "-_", 40, true}, {"fm1a_", "+/=", 60, true}, {"fm1r_", "+/=", 60, true}, {"fm2_", "+/=", 60, true}, {"HRKU-AA", "-_", 40, true},
	{"dp.pt.", "", 40, true}, {"dp.st.", "-_.", 40, true}, {"dp.ct.", "", 40, true}, {"dnkey-", "-_=", 60, true},
	{"glsa_", "_", 32, true}, {"glc_", "+/=", 32, true}, {"eyJrIjoi", "=", 60, true}, {"dt0c01.", ".", 60, true}, {"dt0s16.", ".", 60, true},
	{"NRAK-", "", 24, true}, {"NRJS-", "", 19, true}, {"NRII-", "-", 30, true}, {"sntryu_", "", 40, true}, {"sntrys_", "+/=_", 40, true},
	{"ops_eyJ", "+/=-_.", 100, false}, {"A3-", "-", 28, true}, {"CCIPAT_", "_", 20, true}, {"lin_api_", "", 32, true}, {"pnu_", "", 36, true},
	{"tskey-", "-", 20, true}, {"nvapi-", "-_", 40, true}, {"PMAK-", "-", 40, true}, {"prefect_", "", 32, true},
	// Clouds.
	{"AIza", "-_", 35, true}, {"ya29.", "-_.", 20, true}, {"GOCSPX-", "-_", 20, true}, {"1//0", "-_", 40, true},
	{"ABSK", "+/=", 100, true}, {"LTAI", "", 16, true}, {"bedrock-api-key-", "+/=", 40, true}, {"AKID", "", 32, true}, {"dapi", "", 32, true},
	{"EAAA", "-_", 50, true}, {"pscale_", "-_.=", 32, true}, {"sk_live_", "", 16, true}, {"sk_test_", "", 16, true}, {"rk_live_", "", 16, true},
	{"rk_test_", "", 16, true}, {"sk_prod_", "", 16, true}, {"whsec_", "+/=", 24, true}, {"shpat_", "", 32, true}, {"shpca_", "", 32, true},
	{"shppa_", "", 32, true}, {"shpss_", "", 32, true}, {"sq0atp-", "-_", 22, true}, {"sq0csp-", "-_", 40, true}, {"shippo_live_", "", 40, true},
	{"shippo_test_", "", 40, true}, {"xkeysib-", "-", 60, true}, {"duffel_live_", "-_=", 40, true}, {"duffel_test_", "-_=", 40, true},
	{"FLWSECK", "-_", 12, true}, {"rdme_", "", 60, true}, {"EZAK", "", 50, true}, {"EZTK", "", 50, true}, {"fio-u-", "-_=", 60, true},
	// People and messages.
	{"xoxb-", "-", 16, false}, {"xoxp-", "-", 16, false}, {"xoxa-", "-", 16, false}, {"xoxr-", "-", 16, false}, {"xoxs-", "-", 16, false},
	{"xoxo-", "-", 16, false}, {"xoxe-", "-", 16, false}, {"xoxe.xoxb-", "-", 16, false}, {"xoxe.xoxp-", "-", 16, false}, {"xoxc-", "-", 16, false},
	{"xoxd-", "-%+/=", 16, false}, {"xapp-", "-", 16, false}, {"hooks.slack.com/services/", "/", 20, false}, {"hooks.slack.com/workflows/", "/", 20, false},
	{"hooks.slack.com/triggers/", "/", 20, false}, {"discord.com/api/webhooks/", "/-_", 40, false}, {"webhook.office.com/webhookb2/", "/-_@", 40, false},
	{"SG.", "-_.", 50, true}, {"hf_", "", 34, true}, {"api_org_", "", 34, true}, {"sk-ant-", "-_", 40, true}, {"sk-proj-", "-_", 40, true},
	{"sk-svcacct-", "-_", 40, true}, {"sk-or-v1-", "", 40, true}, {"gsk_", "", 40, true}, {"xai-", "", 60, true}, {"pplx-", "", 40, true}, {"r8_", "", 36, true},
	{"tfp_", "-_.=", 50, true}, {"sm_aat_", "", 16, true}, {"sm_pat_", "", 16, true}, {"sm_sat_", "", 16, true}, {"ico-", "", 32, true},
	{"AQVN", "-_", 35, true}, {"p8e-", "", 32, true}, {"secret_", "", 43, true}, {"ntn_", "", 40, true}, {"figd_", "-_", 36, true},
}

func tokenRules() []rule {
	var all []rule
	for _, t := range tokens {
		all = append(all, rule{t.prefix, t.find})
	}
	return append(all, []rule{
		{"eyJ", (*finding).webToken},
		{"AKIA", (*finding).keyID}, {"ASIA", (*finding).keyID}, {"ABIA", (*finding).keyID}, {"ACCA", (*finding).keyID},
		{".atlasv1.", (*finding).terraformToken}, {"Q~", (*finding).azureSecret}, {":AA", (*finding).telegramToken},
		{"SK", exactly("SK", hexDigit, 32)}, {"s.", exactly("s.", isWord, 24)}, {"key-", exactly("key-", hexDigit, 32)},
		{"$ANSIBLE_VAULT;", (*finding).ansibleVault}, {"Private-Lines: ", (*finding).puttyKey},
	}...)
}

// find finds the token whose prefix stands here.
func (t token) find(f *finding, from, to int) {
	if !f.has(from, t.prefix) || t.whole && !f.wordBegins(from) {
		return
	}
	for to < len(f.text) && (isWord(f.text[to]) || strings.IndexByte(t.chars, f.text[to]) >= 0) {
		to++
	}
	rest := f.text[from+len(t.prefix) : to]
	if len(rest) >= t.least && (len(t.prefix) > 8 || isMixed(rest)) {
		f.add(from, to, tokenKind)
	}
}

// isMixed says whether a text has both digits and letters.
func isMixed(text []byte) bool {
	digit, letter := false, false
	for _, c := range text {
		digit, letter = digit || c >= '0' && c <= '9', letter || isWord(c) && (c < '0' || c > '9')
	}
	return letter && (digit || len(text) >= 30)
}

func hexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// exactly finds a token with so many characters that stands alone.
func exactly(prefix string, chars class, n int) func(*finding, int, int) {
	return func(f *finding, from, to int) {
		if !f.has(from, prefix) || from > 0 && (isWord(f.text[from-1]) || strings.IndexByte("-_./", f.text[from-1]) >= 0) {
			return
		}
		rest := f.text[to:min(len(f.text), to+n)]
		if len(rest) == n && chars.length(rest) == n && isMixed(rest) && f.wordEnds(to+n) && (to+n >= len(f.text) || strings.IndexByte("-_.", f.text[to+n]) < 0) {
			f.add(from, to+n, tokenKind)
		}
	}
}

// webToken finds JSON web tokens: two or more parts of base64.
func (f *finding) webToken(from, to int) {
	if !f.has(from, "eyJ") {
		return
	}
	part := func(at int) int {
		for at < len(f.text) && (isWord(f.text[at]) || f.text[at] == '-' || f.text[at] == '_') {
			at++
		}
		return at
	}
	end := part(to)
	if end-to < 8 || end >= len(f.text) || f.text[end] != '.' {
		return
	}
	next := part(end + 1)
	if next-end-1 < 4 {
		return
	}
	for next < len(f.text) && f.text[next] == '.' {
		next = part(next + 1)
	}
	f.add(from, next, tokenKind)
}

// farthestPartner is how far from the id of an access key the key is looked for,
// in bytes.
const farthestPartner = 300

// keyID finds the id of an access key of AWS, and the key of 40 characters near it.
func (f *finding) keyID(from, to int) {
	id := f.within(from, from+20, "_")
	if id == nil || !bytes.Equal(id, bytes.ToUpper(id)) {
		return
	}
	f.add(from, from+20, tokenKind)
	begin, end := max(0, from-farthestPartner), min(len(f.text), from+20+farthestPartner)
	for at := begin; at < end; {
		n := 0
		for at+n < len(f.text) && (isWord(f.text[at+n]) || f.text[at+n] == '+' || f.text[at+n] == '/') {
			n++
		}
		if word := f.text[at : at+n]; n == 40 && isKeyLine(word, 40) && isMixed(word) {
			f.add(at, at+n, tokenKind)
		}
		at += n + 1
	}
}

// terraformToken finds 14 characters, .atlasv1. and 60 more.
func (f *finding) terraformToken(from, to int) {
	begin := from
	for begin > 0 && from-begin < 20 && isWord(f.text[begin-1]) {
		begin--
	}
	end := to
	for end < len(f.text) && (isWord(f.text[end]) || strings.IndexByte("-_=", f.text[end]) >= 0) {
		end++
	}
	if from-begin >= 10 && end-to >= 40 {
		f.add(begin, end, tokenKind)
	}
}

// azureSecret finds the secret of an application: three characters, a digit, Q~
// and 31 to 34 more.
func (f *finding) azureSecret(from, to int) {
	in := func(c byte) bool { return isWord(c) || strings.IndexByte("_~.-", c) >= 0 }
	if !f.has(from, "Q~") || from < 4 || f.text[from-1] < '0' || f.text[from-1] > '9' {
		return
	}
	end := to
	for end < len(f.text) && in(f.text[end]) {
		end++
	}
	if end-to >= 31 && end-to <= 34 {
		f.add(from-4, end, tokenKind)
	}
}

// telegramToken finds the number of a bot, a colon and 35 characters.
func (f *finding) telegramToken(from, to int) {
	begin := from
	for begin > 0 && f.text[begin-1] >= '0' && f.text[begin-1] <= '9' {
		begin--
	}
	end := from + 1
	for end < len(f.text) && (isWord(f.text[end]) || f.text[end] == '-' || f.text[end] == '_') {
		end++
	}
	if f.has(from, ":AA") && from-begin >= 6 && f.wordBegins(begin) && end-from-1 == 35 {
		f.add(begin, end, tokenKind)
	}
}

// ansibleVault finds the lines of an encrypted text: whoever has it can try
// passwords.
func (f *finding) ansibleVault(from, to int) {
	f.linesBehind(from, func(line []byte) bool { return len(line) >= 2 && class(hexDigit).length(line) == len(line) }, 100_000, secretKind)
}

// puttyKey finds the private lines of a key of PuTTY.
func (f *finding) puttyKey(from, to int) {
	f.linesBehind(from, func(line []byte) bool { return len(line) >= 4 && isKeyLine(line, 4) }, 100, privateKey)
}

// linesBehind adds the lines below a place that are of a form.
func (f *finding) linesBehind(at int, is func(line []byte) bool, most int, kind string) {
	for l := f.lineOf(at); most > 0; most-- {
		var ok bool
		if l, ok = f.below(l); !ok || !is(f.text[l.content:l.to]) {
			return
		}
		f.add(l.content, l.to, kind)
	}
}
