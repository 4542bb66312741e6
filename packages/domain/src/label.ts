import { memberText } from './json-text.ts'

const form = '[A-Za-z0-9][A-Za-z0-9._:/=@+-]'
const path = '[A-Za-z0-9_-]+(?:\\.[A-Za-z0-9_-]+)*'

/** A label of a task. It has no comma, because the database stores new labels as one text. */
export const labelForm = new RegExp(`^${form}{0,99}$`)

/** A label that ends in a placeholder for a member of the payload: `order:{{ payload.order.id }}`. */
export const labelTemplateForm = new RegExp(`^(${form}*)?\\{\\{ *payload\\.(${path}) *\\}\\}$`)

/** The labels that one task may have. */
export const maxLabels = 10

/**
 * Returns the labels of a task with a payload, each once. Leaves out a label whose member is missing, or is no text, number or
 * boolean that makes a valid label.
 * @param payload - The JSON text of the payload. Null: there is none.
 */
export function fillLabels(labels: readonly string[], payload: string | null): readonly string[] {
  if (!labels.some(hasPlaceholder)) return labels
  return [...new Set(labels.map(label => fillLabel(label, payload)))].filter(label => labelForm.test(label))
}

/** Returns whether the payload fills in a label. */
export function hasPlaceholder(label: string): boolean {
  return label.includes('{{')
}

function fillLabel(label: string, payload: string | null): string {
  const [, before = '', path] = labelTemplateForm.exec(label) ?? []
  if (path === undefined) return label
  // The text of a number, which JSON.parse would round.
  const member = memberText(payload ?? '', path.split('.')) ?? 'null'
  const value: unknown = JSON.parse(member)
  if (typeof value === 'string') return before + value
  return typeof value === 'number' || typeof value === 'boolean' ? before + member : ''
}
