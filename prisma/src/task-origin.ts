/** The scheme and authority of the URL in a column, as it is spelled there: what tells which host is called, and no more. */
export function originOf(column: string): string {
  return `split_part(${column}, '/', 1) || '//' || split_part(split_part(${column}, '/', 3), '?', 1)`
}
