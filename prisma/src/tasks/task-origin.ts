/** The scheme and authority of the URL in a column, as it is spelled there: what tells which host is called, and no more. */
export function originOf(column: string): string {
  return `split_part(${column}, '/', 1) || '//' || split_part(split_part(${column}, '/', 3), '?', 1)`
}

/**
 * Whether the URL in a column calls an origin: as if `originOf` were compared with it, mostly at a third of the cost. A
 * URL that begins with a reference to a secret does not begin with its origin, so there it is compared.
 */
export function callsOrigin(column: string, origin: string): string {
  const follows = `substr(${column}, length(${origin}) + 1, 1) IN ('', '/', '?')`
  return `(starts_with(${column}, ${origin}) AND ${follows} OR ${originOf(column)} = ${origin})`
}
