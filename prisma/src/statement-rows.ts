/**
 * Writes rows as the VALUES of one statement. The number of rows is padded to a power of two with rows of NULLs, which
 * the statements skip, so that only a handful of prepared statements exist whatever the batch sizes are.
 * @param types - The SQL type of each column.
 */
export function valuesOf(
  name: string,
  types: readonly string[],
  rows: ReadonlyArray<readonly unknown[]>,
): { name: string; values: string; params: unknown[] } {
  const size = 2 ** Math.ceil(Math.log2(Math.max(1, rows.length)))
  const params = new Array<unknown>(size * types.length).fill(null)
  rows.forEach((row, i) => {
    for (let column = 0; column < types.length; column++) params[i * types.length + column] = row[column]
  })
  return { name: `${name}_${size}`, values: placeholders(types, size), params }
}

const written = new Map<string, string>()

function placeholders(types: readonly string[], size: number): string {
  const key = `${size} ${types.join()}`
  const known = written.get(key)
  if (known) return known
  const text = Array.from(
    { length: size },
    (_, row) => `(${types.map((type, column) => `$${row * types.length + column + 1}::${type}`).join(', ')})`,
  ).join(', ')
  written.set(key, text)
  return text
}
