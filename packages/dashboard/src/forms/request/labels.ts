import { labelForm, labelTemplateForm, maxLabels } from '@belfry/domain/label'

/** Returns the labels in a text, each once. */
export function parseLabels(text: string): string[] {
  return [...new Set(text.match(/(?:\{\{[^}]*\}\}|[^\s,])+/g))]
}

/** Returns what the API would reject. */
export function checkLabels(text: string): string | null {
  const labels = parseLabels(text)
  const wrong = labels.find(label => !labelForm.test(label) && !labelTemplateForm.test(label))
  if (wrong) {
    return `“${wrong}” may have letters, digits and . _ : / = @ + -, at most 100 of them, and {{ payload.member }} at its end.`
  }
  return labels.length > maxLabels ? `Use at most ${maxLabels} labels.` : null
}
