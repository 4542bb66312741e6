type Details = Readonly<Record<string, unknown>>

/** Describes the details of an entry: a change as its old and new value, others as a name with a value. */
export function auditDetails(details: Details): string[] {
  const change = changeOf(details)
  const others = Object.entries(details).filter(([name, value]) => {
    return value !== null && !(change !== null && (name === 'from' || name === 'to'))
  })
  const texts = others.map(([name, value]) => `${labelOf(name)}: ${changeOf(value) ?? textOf(value)}`)
  return change === null ? texts : [change, ...texts]
}

function changeOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('from' in value && 'to' in value)) return null
  if (value.from === null && value.to === null) return null
  return `${textOf(value.from)} → ${textOf(value.to)}`
}

function labelOf(name: string): string {
  return name === 'fields' ? 'changed' : name.replaceAll('_', ' ').replace('api key', 'API key')
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (value === null || (Array.isArray(value) && value.length === 0)) return 'none'
  if (Array.isArray(value)) return value.map(textOf).join(', ')
  return JSON.stringify(value)
}
