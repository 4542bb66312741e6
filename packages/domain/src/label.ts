import { memberText } from './json-text.ts'

const form = '[A-Za-z0-9][A-Za-z0-9._:/=@+-]'
const path = '[A-Za-z0-9_-]+(?:\\.[A-Za-z0-9_-]+)*'

/** A label of a task. It has no comma, because the database stores new labels as one text. */
export const labelForm = new RegExp(`^${form}{0,99}$`)

/** A label that ends in a placeholder for a member of the payload: `order:{{ payload.order.id }}`. */
export const labelTemplateForm = new RegExp(`^(${form}*)?\\{\\{ *payload\\.(${path}) *\\}\\}$`)

export const maxLabels = 10

/**
 * Returns the labels of a task with a payload, each once. Leaves out a label whose member is missing, or is no text, number or
 * boolean that makes a valid label.
 * @param payload - The JSON text of the payload, or null if the task has no payload.
 */
export function fillLabels(labels: readonly string[], payload: string | null): readonly string[] {
  return labels.some(hasPlaceholder) ? labelFiller(payload)(labels) : labels
}

/** Returns `fillLabels` for one payload and the labels of many tasks. It parses the payload and reads each member once. */
export function labelFiller(payload: string | null): (labels: readonly string[]) => readonly string[] {
  const filled = new Map<string, string>()
  let root: unknown
  const fill = (label: string): string => {
    const known = filled.get(label)
    if (known !== undefined) return known
    root ??= JSON.parse(payload ?? 'null')
    const text = fillLabel(label, root, payload ?? '')
    filled.set(label, text)
    return text
  }
  return labels => {
    if (!labels.some(hasPlaceholder)) return labels
    return [...new Set(labels.map(label => (hasPlaceholder(label) ? fill(label) : label)))].filter(label =>
      labelForm.test(label),
    )
  }
}

/** Returns whether the payload fills in a label. */
export function hasPlaceholder(label: string): boolean {
  return label.includes('{{')
}

function fillLabel(label: string, root: unknown, payload: string): string {
  const [, before = '', path = ''] = labelTemplateForm.exec(label) ?? []
  const steps = path.split('.')
  let value = root
  for (const step of steps) {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    value = isObject && Object.hasOwn(value as object, step) ? (value as Record<string, unknown>)[step] : null
  }
  if (typeof value === 'string' || typeof value === 'boolean') return `${before}${value}`
  if (typeof value !== 'number') return ''
  // The text of a number that JSON.parse may have rounded.
  return before + (Number.isSafeInteger(value) ? value : memberText(payload, steps))
}
