/** Returns the suffix of a migration's folder for a name as typed: `Add due-at` becomes `add_due_at`. */
export function normalizeMigrationName(name: string): string {
  const normalized = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
  if (normalized === '') throw new Error('The name of a migration needs at least one letter or digit.')
  return normalized
}
