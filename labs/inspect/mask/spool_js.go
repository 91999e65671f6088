package mask

import "math"

// inMemory: a browser has no temporary files.
const inMemory = math.MaxInt
