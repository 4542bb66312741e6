/**
 * Repeats a step that handles up to `batchSize` rows, until a step handles fewer or the signal is aborted.
 * @returns How many rows were handled in all.
 */
export async function drain(
  signal: AbortSignal,
  batchSize: number,
  step: (batchSize: number) => Promise<number>,
): Promise<number> {
  let total = 0
  while (!signal.aborted) {
    const handled = await step(batchSize)
    total += handled
    if (handled < batchSize) break
  }
  return total
}
