/** Tables with millions of rows. A statement that locks one of them while it reads all rows stops the services. */
const bigTables = ['tasks', 'task_requests', 'runs']

type Rule = { pattern: RegExp; problem: string }

const rules: Rule[] = [
  { pattern: /^DROP (?!INDEX|FUNCTION|TRIGGER)/i, problem: 'drops something that the previous version may use' },
  { pattern: /^ALTER TABLE .*\bDROP (?!DEFAULT|CONSTRAINT|NOT NULL)/i, problem: 'drops a column' },
  { pattern: /^ALTER .*\bRENAME\b/i, problem: 'renames something that the previous version uses' },
  { pattern: /^ALTER TABLE .*\bSET NOT NULL\b/i, problem: 'refuses rows that the previous version writes' },
  { pattern: /^ALTER TABLE .*\bALTER (COLUMN )?\S+ (SET DATA )?TYPE\b/i, problem: 'changes the type of a column' },
  { pattern: /^TRUNCATE\b/i, problem: 'removes rows' },
]

/**
 * Finds statements of a migration that would break the previous version, or block it for long. Ignores tables that the
 * migration itself creates.
 */
export function judgeMigration(sql: string): string[] {
  const statements = statementsOf(sql)
  const created = new Set(statements.flatMap(text => /^CREATE TABLE (?:IF NOT EXISTS )?"?(\w+)/i.exec(text)?.[1] ?? []))
  return statements.flatMap(text => {
    const table =
      /^(?:ALTER TABLE (?:ONLY |IF EXISTS )*|CREATE .*?INDEX .*?\bON (?:ONLY )?)"?(\w+)/i.exec(text)?.[1] ?? ''
    if (created.has(table)) return []
    const problems = rules.filter(({ pattern }) => pattern.test(text)).map(({ problem }) => problem)
    if (needsValueOfOldVersion(text)) problems.push('adds a column that the previous version does not fill')
    if (isBlockingIndex(text, table)) problems.push(`locks ${table} against writes while an index is built`)
    return problems.map(problem => `${text.slice(0, 80)}: ${problem}`)
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

// Ignores function bodies, whose statements run later, for the new version.
function statementsOf(sql: string): string[] {
  const bare = sql.replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''").replace(/--.*$/gm, '')
  return bare
    .split(';')
    .map(text => text.replace(/\s+/g, ' ').trim())
    .filter(Boolean)
}
