/** Tables that hold millions of rows, so that a statement which locks one while it reads all of it stops everything. */
const bigTables = ['tasks', 'task_requests', 'runs']

type Rule = { breaks: RegExp; says: string }

const rules: Rule[] = [
  { breaks: /^DROP (?!INDEX|FUNCTION|TRIGGER)/i, says: 'drops what the previous version may use' },
  { breaks: /^ALTER TABLE .*\bDROP (?!DEFAULT|CONSTRAINT|NOT NULL)/i, says: 'drops a column' },
  { breaks: /^ALTER .*\bRENAME\b/i, says: 'renames what the previous version knows by its name' },
  { breaks: /^ALTER TABLE .*\bSET NOT NULL\b/i, says: 'refuses rows that the previous version writes' },
  { breaks: /^ALTER TABLE .*\bALTER (COLUMN )?\S+ (SET DATA )?TYPE\b/i, says: 'changes the type of a column' },
  { breaks: /^TRUNCATE\b/i, says: 'removes rows' },
]

/**
 * Finds what in a migration the version before it would not survive, or what would stop it for long. Tables that the
 * migration makes itself are nobody else's.
 */
export function judgeMigration(sql: string): string[] {
  const statements = statementsOf(sql)
  const made = new Set(statements.flatMap(text => /^CREATE TABLE (?:IF NOT EXISTS )?"?(\w+)/i.exec(text)?.[1] ?? []))
  return statements.flatMap(text => {
    const table =
      /^(?:ALTER TABLE (?:ONLY |IF EXISTS )*|CREATE .*?INDEX .*?\bON (?:ONLY )?)"?(\w+)/i.exec(text)?.[1] ?? ''
    if (made.has(table)) return []
    const faults = rules.filter(({ breaks }) => breaks.test(text)).map(({ says }) => says)
    if (needsValueOfOldVersion(text)) faults.push('adds a column that the previous version does not fill')
    if (isBlockingIndex(text, table)) faults.push(`locks ${table} against writes while an index is built`)
    return faults.map(fault => `${text.slice(0, 80)}: ${fault}`)
  })
}

function needsValueOfOldVersion(text: string): boolean {
  if (!/^ALTER TABLE /i.test(text)) return false
  const added = text.split(/,\s*(?=ADD COLUMN)/i).filter(part => /ADD COLUMN/i.test(part))
  return added.some(part => /\bNOT NULL\b/i.test(part) && !/\b(DEFAULT|GENERATED)\b/i.test(part))
}

function isBlockingIndex(text: string, table: string): boolean {
  return /^CREATE (UNIQUE )?INDEX (?!CONCURRENTLY)/i.test(text) && bigTables.includes(table)
}

// Bodies of functions hold statements that run later, and on the new version's behalf.
function statementsOf(sql: string): string[] {
  const bare = sql.replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''").replace(/--.*$/gm, '')
  return bare
    .split(';')
    .map(text => text.replace(/\s+/g, ' ').trim())
    .filter(Boolean)
}
