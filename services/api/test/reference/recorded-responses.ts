import type { Recorded } from './record-examples.ts'

/** Returns the bodies of responses as JSON, one to a line: by operation and media type. Lists and tables have one item. */
export function recordedResponses(recorded: readonly Recorded[]): string {
  const lines = recorded
    .filter(({ response: { type } }) => type !== '')
    .map(({ operation: { method, path }, response: { type, body } }) => {
      return `  ${JSON.stringify(`${method} ${path}`)}: ${JSON.stringify({ [type]: body }, shorten)}`
    })
  return `{\n${lines.join(',\n')}\n}\n`
}

function shorten(_name: string, value: unknown): unknown {
  if (typeof value === 'string') return value.split('\r\n', 2).join('\r\n')
  if (!Array.isArray(value)) return value
  const isObject = (item: unknown) => typeof item === 'object' && item !== null
  return value.every(isObject) ? value.slice(0, 1) : [...new Set(value)]
}
