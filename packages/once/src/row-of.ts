/** Returns the first row of a result: of an array, of `{ rows }`, or of `[rows, fields]` as mysql2 returns. */
export function rowOf(result: unknown): object | undefined {
  const [first] = Array.isArray(result) ? result : (result as { rows: unknown[] }).rows
  return Array.isArray(first) ? first[0] : first
}
