export type Scalar = string | number | boolean | null

/** A condition on a member of a payload. The names in `path` are joined by dots; a number selects an element of a list. */
export type Condition =
  | { path: string; op: 'eq' | 'ne'; value: Scalar }
  | { path: string; op: 'in'; value: Scalar[] }
  | { path: string; op: 'prefix'; value: string }
  | { path: string; op: 'exists'; value: boolean }
  | { path: string; op: 'gt' | 'gte' | 'lt' | 'lte'; value: number }

/**
 * Returns whether all conditions hold for a parsed payload. Values of different types are never equal. A missing member
 * satisfies only `ne` and `exists: false`. Whole numbers of any length compare exactly, because conditions stay below 2^53.
 */
export function matchesFilter(filter: readonly Condition[], payload: unknown): boolean {
  return filter.every(condition => holds(condition, memberAt(payload, condition.path)))
}

function holds({ op, value }: Condition, member: unknown): boolean {
  switch (op) {
    case 'eq':
      return member === value
    case 'ne':
      return member !== value
    case 'in':
      return value.some(one => one === member)
    case 'prefix':
      return typeof member === 'string' && member.startsWith(value)
    case 'exists':
      return (member !== undefined) === value
    case 'gt':
      return typeof member === 'number' && member > value
    case 'gte':
      return typeof member === 'number' && member >= value
    case 'lt':
      return typeof member === 'number' && member < value
    case 'lte':
      return typeof member === 'number' && member <= value
  }
}

// Only what the JSON text has: the length of a list is not enumerable, and inherited members do not count.
function memberAt(payload: unknown, path: string): unknown {
  let member = payload
  for (const name of path.split('.')) {
    if (!Object.prototype.propertyIsEnumerable.call(Object(member), name) || typeof member === 'string')
      return undefined
    member = (member as Record<string, unknown>)[name]
  }
  return member
}
