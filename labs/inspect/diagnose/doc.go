// Package diagnose says why a bootstrap hangs. It walks the layers of
// [labs.Diagnosis] from the ground upwards over evidence that was collected
// before, from machines or out of a bundle, and stops at the first cause that is
// proven. It asks no machine itself.
package diagnose
