const groups: Record<string, string> = { full: 'Full', read: 'Read only', publish: 'Publish only' }

/** Returns a short text for the scopes of API keys. */
export function scopeText(scopes: readonly string[]): string {
  const singles = scopes.filter(scope => !(scope in groups)).length
  const names = scopes.flatMap(scope => groups[scope] ?? [])
  return [...names, ...(singles > 0 ? [`${singles} ${singles === 1 ? 'right' : 'rights'}`] : [])].join(', ')
}
