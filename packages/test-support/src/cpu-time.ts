/** Returns the CPU milliseconds that a function takes; other programs on the machine change them little. */
export function cpuTimeOf(run: () => unknown): number {
  const before = process.cpuUsage()
  run()
  // Only their sum is exact: the kernel divides it by samples.
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
