package labs

import "testing"

func TestTheBuiltinDiagnosisIsRight(t *testing.T) {
	if err := BuiltinDiagnosis().Validate(Builtin()); err != nil {
		t.Error(err)
	}
}
