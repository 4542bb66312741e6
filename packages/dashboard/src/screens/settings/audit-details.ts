type Details = Readonly<Record<string, unknown>>
type Names = Readonly<Record<string, string>>

/**
 * Describes the details of an entry: a change as its old and new value, others as a name with a value.
 * @param names - The names of ids.
 */
export function auditDetails(details: Details, names: Names): string[] {
  const change = changeOf(details, names)
  const others = Object.entries(details).filter(([name, value]) => {
    return value !== null && !(change !== null && (name === 'from' || name === 'to'))
  })
  const texts = others.map(([name, value]) => `${labelOf(name)}: ${changeOf(value, names) ?? textOf(value, names)}`)
  return change === null ? texts : [change, ...texts]
}

function changeOf(value: unknown, names: Names): string | null {
  if (typeof value !== 'object' || value === null || !('from' in value && 'to' in value)) return null
  if (value.from === null && value.to === null) return null
  return `${textOf(value.from, names)} → ${textOf(value.to, names)}`
}

function labelOf(name: string): string {
  return name === 'fields' ? 'changed' : name.replaceAll('_', ' ').replace('api key', 'API key')
}

function textOf(value: unknown, names: Names): string {
  if (typeof value === 'string') return names[value] ?? value
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (value === null || (Array.isArray(value) && value.length === 0)) return 'none'
  if (Array.isArray(value)) return value.map(one => textOf(one, names)).join(', ')
  return JSON.stringify(value)
}
