/** Splits a migration into its statements, without comments. Replaces the bodies of functions and DO blocks by `''`. */
export function statementsOf(sql: string): string[] {
  const bare = sql.replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''").replace(/--.*$/gm, '')
  return bare
    .split(';')
    .map(text => text.replace(/\s+/g, ' ').trim())
    .filter(Boolean)
}
