/** Returns the CPU milliseconds that a function takes; other programs on the machine change them little. */
export function cpuTimeOf(run: () => unknown): number {
  const before = process.cpuUsage()
  run()
  return process.cpuUsage(before).user / 1000
}
