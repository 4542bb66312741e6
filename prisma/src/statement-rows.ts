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
    (_, row) => `(${types.map((type, column) => placeholder(row * types.length + column + 1, row, type))})`,
  ).join()
  written.set(key, text)
  return text
}

// The types of the first row hold for all; what is written is copied for each execution.
function placeholder(number: number, row: number, type: string): string {
  return row === 0 ? `$${number}::${type}` : `$${number}`
}

/**
 * Writes the rows of a statement as one array for each column: one statement for any number of rows, which is planned once.
 * Cheaper than VALUES where the columns are few and their texts short.
 * @param types - The SQL type of each column, which are the first parameters.
 */
export function arrayRows(types: readonly string[]): string {
  return `unnest(${types.map((type, column) => `$${column + 1}::${type}[]`).join(', ')})`
}

/** An array of UUIDs as PostgreSQL reads it. */
export function toUuidArray(uuids: readonly string[]): string {
  return `{${uuids.join()}}`
}

/** An array as PostgreSQL reads it. node-postgres would look at each element several times. */
export function toArrayText(values: ReadonlyArray<string | undefined>): string {
  return `{${values.map(value => (value === undefined ? 'NULL' : `"${value.replace(/["\\]/g, '\\$&')}"`)).join()}}`
}
