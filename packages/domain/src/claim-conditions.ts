/** What the claims of a token must be, by the name of the claim: a text in which `*` stands for any characters. */
export type ClaimConditions = Readonly<Record<string, string>>

export const conditionLimits = { count: 20, nameLength: 100, valueLength: 500 } as const

const nameForm = /^[A-Za-z0-9_.:/-]+$/

// Claims whose value belongs to one owner at the issuer. The owner is the part before the first slash, or the whole value.
const subjectClaims = [
  ...['sub', 'repository', 'repository_id', 'repository_owner', 'repository_owner_id'],
  ...['project_path', 'project_id', 'namespace_path', 'namespace_id'],
]

/**
 * Returns the problems of conditions, each with the claim that has it; an empty name for all of them. A public issuer signs
 * tokens for the jobs of all its users, so at least one condition has to name whose jobs are meant.
 */
export function checkConditions(conditions: Readonly<Record<string, unknown>>): Array<{ name: string; must: string }> {
  const entries = Object.entries(conditions)
  const { count, nameLength, valueLength } = conditionLimits
  if (entries.length > count) return [{ name: '', must: `have at most ${count} claims` }]
  const problems = entries.flatMap(([name, value]) => {
    if (name.length > nameLength || !nameForm.test(name)) {
      return [{ name: '', must: 'have names of claims: letters, digits and _ . : / -' }]
    }
    const isText = typeof value === 'string' && value !== '' && value.length <= valueLength
    if (isText && !/[\p{Cc}\p{Cs}]/u.test(value)) return []
    return [{ name, must: `be a text of 1 to ${valueLength} characters, without control characters` }]
  })
  if (problems.length > 0 || entries.some(([name, value]) => pinsSubject(name, String(value)))) return problems
  const must = `name the owner of the jobs in one of ${subjectClaims.join(', ')}, with no * before its first /`
  return [{ name: '', must }]
}

function pinsSubject(name: string, value: string): boolean {
  if (!subjectClaims.includes(name)) return false
  const [before = ''] = value.split('*')
  return before === value || /[^/:]\//.test(before)
}

/**
 * Returns the name of the first claim that does not meet its condition, or null if all do. Only texts, numbers and booleans
 * can meet a condition.
 */
export function unmetCondition(conditions: ClaimConditions, claims: Readonly<Record<string, unknown>>): string | null {
  const unmet = Object.entries(conditions).find(([name, pattern]) => {
    const value = Object.hasOwn(claims, name) ? claims[name] : undefined
    const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    return !isPlain || !matches(pattern, String(value))
  })
  return unmet?.[0] ?? null
}

// Without a regular expression: its time could grow with a power of the length of a claim.
function matches(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return text === pattern
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}
