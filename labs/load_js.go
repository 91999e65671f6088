package labs

// nonBlocking: a browser has no pipes.
const nonBlocking = 0
