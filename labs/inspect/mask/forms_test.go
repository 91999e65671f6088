package mask

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"mime/quotedprintable"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// weak and strong are the two secrets of the forms: a word of a dictionary, which
// only its place can tell, and one that looks like a secret.
const (
	weak   = "swordfish"
	strong = "tr1ckyS3cret"
)

// sample is characters of an alphabet that repeat nowhere, as a token has.
func sample(n int, alphabet string) string {
	var b strings.Builder
	state := uint32(n)*2654435761 + uint32(len(alphabet))
	for range n {
		state = state*1664525 + 1013904223
		b.WriteByte(alphabet[int(state>>16)%len(alphabet)])
	}
	return b.String()
}

const (
	digits = "0123456789"
	hexes  = "0123456789abcdef"
	lowers = "0123456789abcdefghijklmnopqrstuvwxyz"
	uppers = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	mixed  = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// optionForms are secrets that are arguments of a command.
var optionForms = map[string]string{
	"podman login -u=":          "podman login -u=bob -p={X} quay.io",
	"podman login -p":           "podman login -u bob -p {X} quay.io",
	"podman login -pX":          "podman login -u bob -p{X} quay.io",
	"podman login --password":   "podman login --username bob --password {X} quay.io",
	"podman login --password=":  "podman login --username=bob --password={X} quay.io",
	"podman login, quoted":      "podman login -u bob -p '{X}' quay.io",
	"podman login in a list":    `["podman","login","-u","bob","-p","{X}","quay.io"]`,
	"oc login -p":               "oc login -u kubeadmin -p {X} https://api:6443",
	"oc login --token":          "oc login --token={X} https://api:6443",
	"skopeo login":              "skopeo login -u bob -p {X} quay.io",
	"crane auth login":          "crane auth login -u bob -p {X} quay.io",
	"skopeo --src-creds":        "skopeo copy --src-creds bob:{X} docker://a docker://b",
	"--creds=":                  "buildah pull --creds=bob:{X} quay.io/x",
	"--user root:X":             "connect --user root:{X} bmc-0",
	"--user=root:X":             "connect --user=root:{X} bmc-0",
	"--user as a list":          `["redfish","--user","root:{X}","bmc-0"]`,
	"curl -u":                   "curl -k -u bob:{X} https://x",
	"curl -uX":                  "curl -k -ubob:{X} https://x",
	"curl --user=":              "curl --user=bob:{X} https://x",
	"curl --user, quoted":       `curl --user "bob:{X}" https://x`,
	"curl --proxy-user":         "curl --proxy-user bob:{X} https://x",
	"curl -U":                   "curl -U bob:{X} -x proxy:3128 https://x",
	"curl --pass":               "curl --cert a.pem --pass {X} https://x",
	"curl --oauth2-bearer":      "curl --oauth2-bearer {X} https://x",
	"curl -d password=":         "curl -d 'user=bob&password={X}' https://x",
	"curl -d JSON":              `curl -d '{"user":"bob","password":"{X}"}' https://x`,
	"curl -H X-Api-Key":         "curl -H 'X-Api-Key: {X}' https://x",
	"curl -H PRIVATE-TOKEN":     `curl -H "PRIVATE-TOKEN: {X}" https://x`,
	"curl -b":                   "curl -b 'session={X}' https://x",
	"wget --password":           "wget --user bob --password {X} https://x",
	"wget --http-password":      "wget --http-user=bob --http-password={X} https://x",
	"http -a":                   "http -a bob:{X} https://x",
	"http --auth":               "http --auth bob:{X} https://x",
	"--from-literal":            "oc create secret generic a --from-literal=key={X}",
	"--from-literal, a blank":   "oc create secret generic a --from-literal key={X}",
	"--from-literal, quoted":    "oc create secret generic a --from-literal='key={X}'",
	"--from-literal as a list":  `["oc","create","secret","generic","a","--from-literal=key={X}"]`,
	"--docker-password":         "oc create secret docker-registry a --docker-username=bob --docker-password={X}",
	"set env":                   "oc set env deployment/a DB_PASSWORD={X}",
	"podman run -e":             "podman run -e DB_PASSWORD={X} image",
	"mysql -pX":                 "mysql -u root -p{X} db",
	"mysql -pX, first":          "mysql -p{X} -u root db",
	"mysqldump --password=":     "mysqldump --password={X} db",
	"mysqladmin password":       "mysqladmin -u root password {X}",
	"PGPASSWORD":                "PGPASSWORD={X} psql -h db",
	"MYSQL_PWD":                 "MYSQL_PWD={X} mysql db",
	"redis-cli -a":              "redis-cli -h db -a {X} ping",
	"mongo -p":                  "mongosh -u bob -p {X} db",
	"sqlplus":                   "sqlplus bob/{X}@db",
	"ldapsearch -w":             "ldapsearch -x -D cn=admin -w {X} -b dc=x",
	"ldappasswd -s":             "ldappasswd -D cn=admin -w {X} -s other uid=a",
	"-passin pass:":             "openssl rsa -in a.key -passin pass:{X} -out b.key",
	"-passout pass:":            "openssl genrsa -aes256 -passout pass:{X} 2048",
	"-pass pass:":               "openssl enc -aes-256-cbc -pass pass:{X} -in a",
	"-passin as a list":         `["openssl","rsa","-passin","pass:{X}"]`,
	"openssl enc -k":            "openssl enc -aes-256-cbc -k {X} -in a",
	"openssl passwd":            "openssl passwd -6 {X}",
	"keytool -storepass":        "keytool -list -keystore a.jks -storepass {X}",
	"keytool -keypass":          "keytool -genkey -keypass {X} -alias a",
	"gpg --passphrase":          "gpg --batch --passphrase {X} -d a.gpg",
	"ssh-keygen -N":             "ssh-keygen -t rsa -N {X} -f a",
	"ssh-keygen -P":             "ssh-keygen -y -P {X} -f a",
	"sshpass -p":                "sshpass -p {X} ssh a",
	"sshpass -pX":               "sshpass -p{X} ssh a",
	"SSHPASS":                   "SSHPASS={X} sshpass -e ssh a",
	"ipmitool -P":               "ipmitool -I lanplus -H bmc-0 -U admin -P {X} power status",
	"ipmitool -PX":              "ipmitool -I lanplus -H bmc-0 -U admin -P{X} power status",
	"ipmitool as a list":        `["ipmitool","-I","lanplus","-U","admin","-P","{X}","power","status"]`,
	"ipmitool user set":         "ipmitool user set password 2 {X}",
	"racadm -p":                 "racadm -r bmc-0 -u root -p {X} getsysinfo",
	"fence_ipmilan":             "fence_ipmilan -a bmc-0 -l admin -p {X} -o status",
	"chpasswd":                  "echo root:{X} | chpasswd",
	"chpasswd, quoted":          "echo 'core:{X}' | sudo chpasswd",
	"chpasswd <<<":              `chpasswd <<< "root:{X}"`,
	"passwd --stdin":            "echo {X} | passwd --stdin root",
	"sudo -S":                   "echo {X} | sudo -S true",
	"kinit":                     "echo {X} | kinit admin",
	"cryptsetup":                "echo -n {X} | cryptsetup luksOpen /dev/vda4 root -",
	"useradd -p":                "useradd -p {X} bob",
	"usermod --password":        "usermod --password {X} bob",
	"--activationkey":           "subscription-manager register --org=1 --activationkey={X}",
	"--activationkey, a blank":  "subscription-manager register --org 1 --activationkey {X}",
	"--activation-key":          "rhc connect --organization 1 --activation-key {X}",
	"subscription-manager":      "subscription-manager register --username bob --password {X}",
	"kubeadm --certificate-key": "kubeadm join --certificate-key {X} a:6443",
	"zip -P":                    "zip -P {X} a.zip b",
	"7z -pX":                    "7z x -p{X} a.7z",
	"smbclient -U":              "smbclient -U bob%{X} //a/b",
	"mount -o password":         "mount -t cifs //a/b /mnt -o username=bob,password={X}",
	"nmcli psk":                 "nmcli connection modify a 802-11-wireless-security.psk {X}",
	"wpa psk":                   "network={\n  psk=\"{X}\"\n}",
	"az login":                  "az login --service-principal -u app -p {X} --tenant t",
	"vault login":               "vault login {X}",
	"govc URL":                  "GOVC_URL=https://admin:{X}@vcenter/sdk",
	"ansible -e":                "ansible-playbook -e ansible_password={X} a.yml",
	"net ads join -U":           "net ads join -U Administrator%{X}",
	"snmpget -c":                "snmpget -v2c -c {X} switch sysName",
	"virsh set password":        "virsh set-user-password vm root {X}",
	"Dockerfile ENV":            "FROM a\nENV DB_PASSWORD {X}\nRUN b",
	"Dockerfile ENV =":          "FROM a\nENV DB_PASSWORD={X}\nRUN b",
	"Dockerfile ARG":            "FROM a\nARG DB_PASSWORD={X}\nRUN b",
	"nc -- rhsm":                "rhsm: consumer --auth-token {X}",
}

// fileForms are secrets in files and lines of programs.
var fileForms = map[string]string{
	"XML":                        "<user><name>bob</name><password>{X}</password></user>",
	"XML with attributes":        "<password type=\"plain\">{X}</password>",
	"XML attribute":              `<user name="bob" password="{X}"/>`,
	"XML in capitals":            "<Password>{X}</Password>",
	"XML with a prefix":          "<ns:AdminPassword>{X}</ns:AdminPassword>",
	"XML value":                  "<AdministratorPassword><Value>{X}</Value></AdministratorPassword>",
	"netrc":                      "machine quay.io login bob password {X}",
	"netrc in lines":             "machine quay.io\n  login bob\n  password {X}",
	"pgpass":                     "db.example.com:5432:app:bob:{X}",
	"ini":                        "[db]\nuser = bob\npassword = {X}",
	"toml":                       "[db]\npassword = \"{X}\"",
	"properties":                 "db.password={X}",
	"properties with a colon":    "db.password:{X}",
	"YAML":                       "password: {X}",
	"YAML, quoted":               "password: '{X}'",
	"YAML, folded":               "password: >-\n  first\n  {X}\nnext: 1",
	"YAML, literal":              "password: |\n  first\n  {X}\nnext: 1",
	"YAML, folded and indented":  "bmc:\n  password: >\n    first\n    {X}\n  next: 1",
	"YAML, a block further down": "password: |-\n  first\n\n  {X}\nnext: 1",
	"YAML, plain in lines":       "password: first\n  {X}\nnext: 1",
	"YAML, on the next line":     "password:\n  {X}\nnext: 1",
	"YAML, list":                 "passwords:\n- {X}\n- other\nnext: 1",
	"YAML, a folded token":       "token: >-\n  first\n  {X}\nnext: 1",
	"YAML, flow":                 "bmc: {address: a, password: {X}}",
	"YAML, camel case":           "bmcPassword: {X}",
	"YAML, anchor":               "password: &p {X}",
	"YAML, tag":                  "password: !!str {X}",
	"YAML, quoted key":           "\"password\": {X}",
	"JSON":                       `{"password":"{X}"}`,
	"JSON list":                  `{"passwords":["{X}","other"]}`,
	"JSON, vSphere":              `{"vcenters":[{"user":"bob","password":"{X}"}]}`,
	"Python":                     "{'user': 'bob', 'password': '{X}'}",
	"Python, bytes":              "{'password': b'{X}'}",
	"Ruby":                       ":password => \"{X}\"",
	"Perl":                       "'password' => '{X}',",
	"PHP":                        "$password = '{X}';",
	"Go assignment":              "password := \"{X}\"",
	"Terraform":                  "  admin_password = \"{X}\"",
	"shell":                      "export PASSWORD='{X}'",
	"shell, a function":          "read_password() { PASSWORD=\"{X}\"; }",
	"systemd":                    "Environment=DB_PASSWORD={X}",
	"systemd, quoted":            "Environment=\"DB_PASSWORD={X}\" \"B=c\"",
	"Go dump":                    "{User:bob Password:{X} Port:22}",
	"Go dump with a pointer":     "&{User:bob Password:{X}}",
	"Go dump with types":         "main.Login{User:\"bob\", Password:\"{X}\", Port:22}",
	"Go dump, token":             "rest.Config{Host:\"a\", BearerToken:\"{X}\", Port:22}",
	"Go dump, map":               "map[password:{X} user:bob]",
	"Go dump, map of secrets":    "map[string]string{\"password\":\"{X}\"}",
	"spew":                       "(main.Login) {\n User: (string) (len=3) \"bob\",\n Password: (string) (len=9) \"{X}\"\n}",
	"Java dump":                  "Login(user=bob, password={X})",
	"Java dump, braces":          "Login{user='bob', password='{X}'}",
	"Rust dump":                  "Login { user: \"bob\", password: \"{X}\" }",
	"query":                      "GET /a?user=bob&password={X}&b=c HTTP/1.1",
	"query, token":               "GET /a?access_token={X}&b=c HTTP/1.1",
	"query, code":                "GET /oauth/callback?client_secret={X}&b=c HTTP/1.1",
	"form":                       "grant_type=password&username=bob&password={X}",
	"connection string":          "Server=db;User Id=bob;Password={X};Encrypt=yes",
	"connection string, Pwd":     "Server=db;Uid=bob;Pwd={X};Encrypt=yes",
	"DSN":                        "bob:{X}@tcp(db:3306)/app",
	"URL":                        "postgres://bob:{X}@db/app",
	"URL, redis":                 "redis://:{X}@db:6379/0",
	"URL, amqp":                  "amqp://bob:{X}@mq:5672/",
	"URL, LDAP":                  "ldaps://cn=admin:{X}@ldap:636",
	"logfmt":                     "level=info msg=login user=bob password={X}",
	"logfmt, quoted":             "level=info msg=login user=bob password=\"{X}\"",
	"X-Auth-Token":               "X-Auth-Token: {X}",
	"X-Vault-Token":              "X-Vault-Token: {X}",
	"X-Subject-Token":            "< X-Subject-Token: {X}",
	"Proxy-Authorization":        "Proxy-Authorization: Basic {X}",
	"Set-Cookie":                 "< Set-Cookie: session={X}; Path=/",
	"htdigest":                   "admin_password_hash: {X}",
	"chap":                       "node.session.auth.password = {X}",
	"iSCSI chap":                 "discovery.sendtargets.auth.password_in = {X}",
	"nova":                       "admin_pass={X}",
	"SNMP":                       "rocommunity {X}",
	"ceph":                       "[client.admin]\n\tkey = {X}",
	"WireGuard":                  "[Interface]\nPrivateKey = {X}",
	"WireGuard, preshared":       "[Peer]\nPresharedKey = {X}",
	"ipsec.secrets":              "@left @right : PSK \"{X}\"",
	"install-config":             "platform:\n  baremetal:\n    hosts:\n    - bmc:\n        username: admin\n        password: {X}",
	"kickstart rootpw":           "rootpw --plaintext {X}",
	"kickstart user":             "user --name=bob --password={X} --plaintext",
	"cloud-init chpasswd":        "chpasswd:\n  list: |\n    root:{X}\n    bob:other\n  expire: false",
	"AccountKey":                 "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={X};EndpointSuffix=core",
	"SharedAccessKey":            "Endpoint=sb://a;SharedAccessKeyName=b;SharedAccessKey={X}",
	"credentials of AWS":         "[default]\naws_secret_access_key = {X}",
	"session token of AWS":       "aws_session_token = {X}",
	"OpenStack clouds.yaml":      "clouds:\n  a:\n    auth:\n      username: bob\n      password: {X}",
	"OpenStack secret":           "application_credential_secret: {X}",
	"etcd --user":                "etcdctl --user root:{X} member list",
	"BMC in an annotation":       `{"baremetalhost.metal3.io/password":"{X}"}`,
	"passcode":                   "passcode: {X}",
	"PIN":                        "tpm_pin={X}",
	"encryption key":             "ENCRYPTION_KEY={X}",
	"old password":               "old_password={X} new_password=b",
	"SAML":                       "client-secret={X}",
}

// strongForms are those in which only the secret's look tells that it is none of a
// sentence.
var strongForms = map[string]string{
	"password is":              "the password is {X}",
	"password was":             "kubeadmin's password was {X}, log in",
	"with password":            "trying user admin with password {X} on bmc-0",
	"password, quoted":         "cannot log in with password \"{X}\": refused",
	"token is":                 "the token is {X}",
	"password in brackets":     "login (password {X}) refused",
	"password set to":          "password set to {X}",
	"use password":             "log in with user: \"kubeadmin\", and password: \"{X}\"",
	"key is":                   "your API key is {X}",
	"Password for":             "Password for bob: {X}",
	"secret:":                  "generated secret {X}",
	"Authorization without":    "Authorization: {X}",
	"X-Amz-Signature":          "https://a.s3.amazonaws.com/b?X-Amz-Signature={X}&c=d",
	"X-Amz-Security-Token":     "https://a.s3.amazonaws.com/b?X-Amz-Security-Token={X}&c=d",
	"X-Amz-Credential":         "https://a.s3.amazonaws.com/b?X-Amz-Credential={X}&c=d",
	"X-Goog-Signature":         "https://storage.googleapis.com/b?X-Goog-Signature={X}&c=d",
	"signature of Azure":       "https://a.blob.core.windows.net/b?sv=2024&sig={X}&se=1",
	"signature of CloudFront":  "https://a.cloudfront.net/b?Expires=1&Signature={X}&Key-Pair-Id=K",
	"query, sig in JSON":       `{"u":"https://a/b?sv=1\u0026sig={X}\u0026se=1"}`,
	"JWK":                      `{"kty":"EC","crv":"P-256","x":"AAAA","d":"{X}"}`,
	"JWK, d first":             `{"d":"{X}","kty":"EC","crv":"P-256"}`,
	"JWK, symmetric":           `{"kty":"oct","k":"{X}"}`,
	"JWK, a prime":             `{"kty":"RSA","n":"AAAA","p":"{X}"}`,
	"SASL":                     "AUTH PLAIN {X}",
	"access key":               "access_key: {X}",
	"credential":               "credential: {X}",
	"encryption config":        "keys:\n- name: key1\nsecret: {X}",
	"signing key":              "signing_key: {X}",
	"webhook secret":           "webhook_secret: {X}",
	"cert key of a kubeconfig": "client-key-data: {X}",
}

// tokenForms are tokens that their first characters tell.
func tokenForms() map[string]leak {
	all := map[string]leak{}
	add := func(name, before, prefix, rest string) { all[name] = leak{before + prefix + rest, rest} }
	add("GitHub, personal", "found ", "ghp_", sample(36, mixed))
	add("GitHub, OAuth", "found ", "gho_", sample(36, mixed))
	add("GitHub, app", "found ", "ghs_", sample(36, mixed))
	add("GitHub, user", "found ", "ghu_", sample(36, mixed))
	add("GitHub, refresh", "found ", "ghr_", sample(36, mixed))
	add("GitHub, fine-grained", "found ", "github_pat_", sample(22, mixed)+"_"+sample(59, mixed))
	add("GitLab, personal", "found ", "glpat-", sample(20, mixed))
	add("GitLab, routable", "found ", "glpat-", sample(27, mixed)+".01.0a1b2c3d4")
	add("GitLab, runner", "found ", "glrt-", sample(20, mixed))
	add("GitLab, deploy", "found ", "gldt-", sample(20, mixed))
	add("GitLab, job", "found ", "glcbt-", "64_"+sample(20, mixed))
	add("GitLab, agent", "found ", "glagent-", sample(50, mixed))
	add("GitLab, registration", "found ", "GR1348941", sample(20, mixed))
	add("Slack, bot", "found ", "xoxb-", sample(12, digits)+"-"+sample(12, digits)+"-"+sample(24, mixed))
	add("Slack, user", "found ", "xoxp-", sample(12, digits)+"-"+sample(12, digits)+"-"+sample(12, digits)+"-"+sample(32, hexes))
	add("Slack, app", "found ", "xapp-", "1-"+sample(11, uppers)+"-"+sample(13, digits)+"-"+sample(64, hexes))
	add("Slack, webhook", "https://", "hooks.slack.com/services/", "T"+sample(10, uppers)+"/B"+sample(10, uppers)+"/"+sample(24, mixed))
	add("Docker Hub, personal", "found ", "dckr_pat_", sample(27, mixed))
	add("Docker Hub, organization", "found ", "dckr_oat_", sample(32, mixed))
	add("Vault, service", "found ", "hvs.", sample(95, mixed))
	add("Vault, batch", "found ", "hvb.", sample(140, mixed))
	add("Vault, old", "token ", "s.", sample(24, mixed))
	add("AWS key id", "found ", "AKIA", sample(16, uppers))
	add("AWS temporary key id", "found ", "ASIA", sample(16, uppers))
	all["AWS pair"] = leak{"AKIA" + sample(16, uppers) + "," + sample(40, mixed), sample(40, mixed)}
	all["AWS pair in words"] = leak{"id AKIA" + sample(16, uppers) + " key " + sample(40, mixed+"/+") + " of bob", sample(40, mixed+"/+")}
	add("AWS Bedrock", "found ", "ABSK", sample(120, mixed))
	add("age", "found ", "AGE-SECRET-KEY-1", sample(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"))
	add("Google API", "found ", "AIza", sample(35, mixed))
	add("Google OAuth", "found ", "ya29.", sample(60, mixed))
	add("Google client secret", "found ", "GOCSPX-", sample(28, mixed))
	add("Azure client secret", "found abc", "8Q~", sample(34, mixed))
	add("npm", "found ", "npm_", sample(36, lowers))
	add("PyPI", "found ", "pypi-AgEIcHlwaS5vcmc", sample(60, mixed))
	add("RubyGems", "found ", "rubygems_", sample(48, hexes))
	add("Stripe", "found ", "sk_live_", sample(24, mixed))
	add("SendGrid", "found ", "SG.", sample(22, mixed)+"."+sample(43, mixed))
	add("Twilio", "found ", "SK", sample(32, hexes))
	add("DigitalOcean", "found ", "dop_v1_", sample(64, hexes))
	add("Databricks", "found ", "dapi", sample(32, hexes))
	add("Hugging Face", "found ", "hf_", sample(34, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
	add("OpenAI", "found ", "sk-proj-", sample(48, mixed))
	add("Anthropic", "found ", "sk-ant-api03-", sample(93, mixed)+"AA")
	add("Artifactory", "found ", "AKCp", sample(69, mixed))
	add("Artifactory, reference", "found ", "cmVmdGtu", sample(56, mixed))
	add("Atlassian", "found ", "ATATT3", sample(186, mixed))
	add("Grafana, service account", "found ", "glsa_", sample(32, mixed)+"_"+sample(8, hexes))
	add("Grafana, cloud", "found ", "glc_", sample(60, mixed))
	add("Terraform Cloud", "found "+sample(14, mixed), ".atlasv1.", sample(64, mixed))
	add("Pulumi", "found ", "pul-", sample(40, hexes))
	add("Postman", "found ", "PMAK-", sample(24, hexes)+"-"+sample(34, hexes))
	add("Dynatrace", "found ", "dt0c01.", sample(24, uppers)+"."+sample(64, uppers))
	add("New Relic", "found ", "NRAK-", sample(27, uppers))
	add("Sentry", "found ", "sntryu_", sample(64, hexes))
	add("Shopify", "found ", "shpat_", sample(32, hexes))
	add("Alibaba", "found ", "LTAI", sample(20, mixed))
	add("Doppler", "found ", "dp.pt.", sample(43, mixed))
	add("Linear", "found ", "lin_api_", sample(40, mixed))
	add("Okta", "found SSWS ", "00", sample(40, mixed))
	add("Telegram", "found ", "123456789:AA", sample(33, mixed))
	add("1Password", "found ", "ops_eyJ", sample(250, mixed))
	add("Heroku", "found ", "HRKU-AA", sample(58, mixed))
	add("Fly", "found ", "fm2_", sample(100, mixed))
	add("OpenShift", "found ", "sha256~", sample(43, mixed))
	add("Ansible Vault", "", "$ANSIBLE_VAULT;1.1;AES256\n", sample(80, digits)+"\n"+sample(80, digits)+"\n")
	add("PuTTY", "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n", "", sample(44, mixed)+"\n")
	add("Kerberos keytab in base64", "keytab: ", "BQIAAA", sample(80, mixed))
	add("grub", "password_pbkdf2 root ", "grub.pbkdf2.sha512.10000.", sample(128, "0123456789ABCDEF")+"."+sample(128, "0123456789ABCDEF"))
	add("PGP", "", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n", sample(64, mixed)+"\n"+sample(64, mixed)+"\n-----END PGP PRIVATE KEY BLOCK-----\n")
	return all
}

func utf16Of(text string, order binary.AppendByteOrder) string {
	var out []byte
	for _, c := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, c)
	}
	return string(out)
}

// numbers writes the bytes of a text as a list.
func numbers(text, form, gap string) string {
	var all []string
	for _, c := range []byte(text) {
		all = append(all, fmt.Sprintf(form, c))
	}
	return strings.Join(all, gap)
}

func quotedPrintable(text string) string {
	var out strings.Builder
	w := quotedprintable.NewWriter(&out)
	w.Write([]byte(text))
	w.Close()
	return out.String()
}

// behind puts the beginning of a log's line before each line.
func behind(prefix, text string) string {
	n := 0
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(prefix, "#", fmt.Sprint(n%10)) + line
		n++
	}
	return strings.Join(lines, "\n")
}

const journalPrefix = "Nov 22 01:02:0# bootstrap bootkube.sh[1234]: "

// encodings write a text in another way.
var encodings = map[string]func(string) string{
	"hex":                func(s string) string { return hex.EncodeToString([]byte(s)) },
	"hex in capitals":    func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"hex in lines":       func(s string) string { return inLines(hex.EncodeToString([]byte(s)), 32, "\n") },
	"hex with colons":    func(s string) string { return numbers(s, "%02x", ":") },
	"hex with blanks":    func(s string) string { return numbers(s, "%02x", " ") },
	"escapes \\x":        func(s string) string { return numbers(s, `\x%02x`, "") },
	"escapes \\u":        func(s string) string { return numbers(s, `\u%04x`, "") },
	"escapes, octal":     func(s string) string { return numbers(s, `\%03o`, "") },
	"HTML entities":      func(s string) string { return numbers(s, "&#%d;", "") },
	"HTML entities, hex": func(s string) string { return numbers(s, "&#x%02x;", "") },
	"percent":            func(s string) string { return numbers(s, "%%%02X", "") },
	"Go bytes":           func(s string) string { return "[]byte{" + numbers(s, "0x%x", ", ") + "}" },
	"Go bytes in lines":  func(s string) string { return "[]byte{\n" + numbers(s, "0x%02x", ",\n") + ",\n}" },
	"Go bytes printed":   func(s string) string { return "[" + numbers(s, "%d", " ") + "]" },
	"JSON bytes":         func(s string) string { return "[" + numbers(s, "%d", ",") + "]" },
	"JSON bytes, blanks": func(s string) string { return "[" + numbers(s, "%d", ", ") + "]" },
	"base32":             func(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) },
	"base32, small":      func(s string) string { return strings.ToLower(base32.StdEncoding.EncodeToString([]byte(s))) },
	"base32, no padding": func(s string) string {
		return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte(s))
	},
	"UTF-16":                func(s string) string { return utf16Of(s, binary.LittleEndian) },
	"UTF-16, big":           func(s string) string { return utf16Of(s, binary.BigEndian) },
	"base64":                b64,
	"base64 for URLs":       func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"base64 twice":          func(s string) string { return b64(b64(s)) },
	"base64 in lines of 76": func(s string) string { return inLines(b64(s), 76, "\n") },
	"base64 in lines of 64": func(s string) string { return inLines(b64(s), 64, "\n") },
	"base64 in lines of 20": func(s string) string { return inLines(b64(s), 20, "\n") },
	"base64 in lines, CR":   func(s string) string { return inLines(b64(s), 40, "\r\n") },
	"base64 in a journal":   func(s string) string { return behind(journalPrefix, inLines(b64(s), 40, "\n")) },
	"base64 in a container log": func(s string) string {
		return behind("2026-01-02T03:04:0#.123456789+00:00 stdout F ", inLines(b64(s), 60, "\n"))
	},
	"base64 in a comment":         func(s string) string { return behind("# ", inLines(b64(s), 32, "\n")) },
	"base64 in strings":           func(s string) string { return `"` + inLines(b64(s), 30, "\" +\n  \"") + `"` },
	"base64 of UTF-16":            func(s string) string { return b64(utf16Of(s, binary.LittleEndian)) },
	"hex of base64":               func(s string) string { return hex.EncodeToString([]byte(b64(s))) },
	"base64 of hex":               func(s string) string { return b64(hex.EncodeToString([]byte(s))) },
	"quoted-printable":            quotedPrintable,
	"quoted-printable, all of it": func(s string) string { return inLines(numbers(s, "=%02X", ""), 72, "=\n") },
	"xxd":                         dump,
	"JSON string":                 func(s string) string { b, _ := json.Marshal(s); return string(b) },
	"JSON string in another":      func(s string) string { b, _ := json.Marshal(s); b, _ = json.Marshal(string(b)); return string(b) },
	"coloured":                    func(s string) string { return coloured(s, "\x1b[31m", "\x1b[0m") },
	"coloured, in JSON":           func(s string) string { return coloured(s, `\u001b[31m`, `\u001b[0m`) },
	"coloured, in a syslog":       func(s string) string { return coloured(s, "#033[31m", "#033[0m") },
}

// coloured puts a colour around each word.
func coloured(text, on, off string) string {
	var out strings.Builder
	for _, part := range strings.SplitAfter(text, " ") {
		word, rest := strings.TrimRight(part, " :\n"), ""
		rest = part[len(word):]
		out.WriteString(on + word + off + rest)
	}
	return out.String()
}

// dump is what xxd writes.
func dump(text string) string {
	var out strings.Builder
	for at := 0; at < len(text); at += 16 {
		line := text[at:min(len(text), at+16)]
		fmt.Fprintf(&out, "%08x: ", at)
		for i := range 16 {
			if i < len(line) {
				fmt.Fprintf(&out, "%02x", line[i])
			} else {
				out.WriteString("  ")
			}
			if i%2 == 1 {
				out.WriteByte(' ')
			}
		}
		out.WriteString(" " + strings.Map(func(r rune) rune {
			if r < ' ' || r > '~' {
				return '.'
			}
			return r
		}, line) + "\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// allForms are all of them: texts, and what must not be seen of them.
func allForms(t testing.TB) map[string]leak {
	all := map[string]leak{}
	put := func(name string, l leak) {
		if _, is := all[name]; is {
			t.Fatalf("%s is there twice", name)
		}
		all[name] = l
	}
	for kind, group := range map[string]map[string]string{"option": optionForms, "file": fileForms} {
		for name, text := range group {
			put(kind+": "+name, leak{strings.ReplaceAll(text, "{X}", weak), weak})
		}
	}
	for name, text := range strongForms {
		put("look: "+name, leak{strings.ReplaceAll(text, "{X}", strong), strong})
	}
	for name, l := range tokenForms() {
		put("token: "+name, leak{l.text, strings.Split(l.secret, "\n")[0]})
	}
	const inside = "apiVersion: v1\nusers:\n- name: admin\n  user:\n    token: " + strong + "\n    password: " + weak + "-and-more\n"
	for name, encode := range encodings {
		text := encode(inside)
		hidden := piece(text)
		if strings.HasPrefix(name, "UTF-16") {
			hidden = encode(strong)[1:20]
		}
		put("encoded: "+name, leak{text, hidden})
	}
	return all
}

// piece is what must not be seen of an encoded text: some of its middle, where the
// secrets are.
func piece(text string) string {
	for _, plain := range []string{strong, weak} {
		if strings.Contains(text, plain) {
			return plain
		}
	}
	at := len(text) * 7 / 10
	return text[at : at+10]
}

// left are the forms that are still seen.
func left(m func() *Masker, all map[string]leak, around func(string) string) []string {
	var names []string
	for name, l := range all {
		text := around(l.text)
		if strings.Contains(string(m().Bytes([]byte(text))), l.secret) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func TestEveryFormIsMasked(t *testing.T) {
	all := allForms(t)
	for place, around := range map[string]func(string) string{
		"alone":         func(s string) string { return s },
		"between lines": func(s string) string { return "first line of it\n" + s + "\nlast line of it\n" },
		// As if that were the first line of the same text.
		"below a long word": func(s string) string { return "found " + sample(59, mixed) + "\n" + s },
	} {
		names := left(func() *Masker { return New() }, all, around)
		t.Logf("%s: %d of %d forms are masked", place, len(all)-len(names), len(all))
		for _, name := range names {
			t.Errorf("%s: %s: left in %.200q", place, name, all[name].text)
		}
	}
}

// What is known by itself is known in any form.
func TestOwnSecretsAreKnownInEveryEncoding(t *testing.T) {
	const own = "correct horse battery, 9"
	all := map[string]leak{}
	for name, encode := range encodings {
		for at, around := range map[string][2]string{"alone": {"", ""}, "within": {"some words, ", " and more of them"}, "within, shifted": {"one words, ", " and more"}} {
			text := encode(around[0] + own + around[1])
			hidden := own
			if !strings.Contains(text, own) {
				from := len(text) * (len(around[0]) + 8) / (len(around[0]) + len(own) + len(around[1]))
				hidden = text[from : from+8]
				if around[0] == "" {
					hidden = text[len(text)-14 : len(text)-6]
				}
			}
			if strings.HasPrefix(name, "coloured") {
				hidden = "battery"
			}
			all[name+", "+at] = leak{text, hidden}
		}
	}
	names := left(func() *Masker { return New([]byte(own)) }, all, func(s string) string { return "first line\n" + s + "\nlast line\n" })
	t.Logf("%d of %d forms are masked", len(all)-len(names), len(all))
	for _, name := range names {
		t.Errorf("%s: left in %.200q", name, all[name].text)
	}
}
