package labs

import (
	"io/fs"
	"testing"
)

func BenchmarkLoadCatalog(b *testing.B) {
	sub, err := fs.Sub(Data, "data")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := LoadCatalog(sub); err != nil {
			b.Fatal(err)
		}
	}
}
