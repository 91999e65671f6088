package main

import (
	"fmt"
	"strings"
)

// crd is the definition of a type, as short as an API server takes it.
func crd(name, kind, scope, profile string) string {
	plural, group, _ := strings.Cut(name, ".")
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  annotations:
    include.release.openshift.io/%s: "true"
  name: %s
spec:
  group: %s
  names:
    kind: %s
    listKind: %[4]sList
    plural: %s
    singular: %s
  scope: %s
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-preserve-unknown-fields: true
    served: true
    storage: true
`, profile, name, group, kind, plural, strings.ToLower(kind), scope)
}

// usualProfile is the one profile that every stand-in has templates for.
const usualProfile = "self-managed-high-availability"

// roleBindingRestrictions comes from two operators, and has to be the same from
// both.
func roleBindingRestrictions() string {
	return crd("rolebindingrestrictions.authorization.openshift.io", "RoleBindingRestriction", "Namespaced", usualProfile)
}
