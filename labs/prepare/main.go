// Command prepare writes labs/data/prepared, from which a command starts quicker
// than from YAML. go generate runs it in labs.
package main

import (
	"fmt"
	"os"

	"bootlab/labs"
)

func main() {
	if err := labs.Prepare("data"); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
