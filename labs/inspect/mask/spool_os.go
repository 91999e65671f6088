//go:build !js

package mask

// inMemory is how much of a masked file is kept in memory, in bytes.
const inMemory = 8 << 20
