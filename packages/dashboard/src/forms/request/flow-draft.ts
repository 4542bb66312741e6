import type { CallbackEvent } from '@belfry/contract/callback'
import { labelForm, labelTemplateForm, maxLabels } from '@belfry/domain/label'
import { queueNameForm } from '@belfry/domain/queue-name'
import { checkTargetUrl } from '@belfry/domain/target-url'
import type { Body } from '../../api/call.ts'

/** The queue, the connection, the deadline, the labels and the callbacks of tasks, as the user types them. */
export type FlowDraft = {
  /** The name of the queue, or empty. */
  queue: string
  connection: string
  maxAgeSeconds: string
  labels: string
  /** The URL of each callback, and its other fields as they are stored. */
  callbacks: Record<CallbackEvent, { url: string; stored: CallbackBody | null }>
}

type CallbackBody = NonNullable<Body<'createTask'>['on_success']>

export const callbackEvents: readonly CallbackEvent[] = ['on_success', 'on_failure', 'on_attempt']

export type FlowBody = ReturnType<typeof flowBodyOf>

export function flowDraftOf(stored?: Partial<FlowBody> | null): FlowDraft {
  const { queue, connection, max_age_ms: maxAgeMs = null, labels = [] } = stored ?? {}
  return {
    queue: queue ?? '',
    connection: connection ?? '',
    maxAgeSeconds: maxAgeMs === null ? '' : String(maxAgeMs / 1000),
    labels: labels.join(' '),
    callbacks: forEachEvent(event => ({ url: stored?.[event]?.url ?? '', stored: stored?.[event] ?? null })),
  }
}

/** Returns what the API would reject, by field. */
export function checkFlow({ queue, maxAgeSeconds, labels, callbacks }: FlowDraft) {
  const urls = callbackEvents.map(event => [`${event}.url`, callbacks[event].url.trim()] as const)
  return {
    queue: queue.trim() === '' || queueNameForm.test(queue.trim()) ? null : queueNameMessage,
    max_age_ms: checkMaxAge(maxAgeSeconds),
    labels: checkLabels(labels),
    ...Object.fromEntries(urls.map(([name, url]) => [name, url === '' ? null : checkTargetUrl(url)])),
  }
}

export const queueNameMessage = 'Use letters, digits and . _ : / -, starting with a letter, a digit, _ or -.'

const maxAgeSeconds = 14 * 86_400

function checkMaxAge(text: string): string | null {
  if (text.trim() === '') return null
  const seconds = Number(text)
  return seconds >= 1 && seconds <= maxAgeSeconds ? null : 'Enter 1 to 1,209,600 seconds.'
}

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

/** Converts a draft to fields of a body. Only for a draft that passes `checkFlow`. */
export function flowBodyOf({ queue, connection, maxAgeSeconds, labels, callbacks }: FlowDraft) {
  return {
    queue: queue.trim() || null,
    connection: connection || null,
    max_age_ms: maxAgeSeconds.trim() === '' ? null : Math.round(Number(maxAgeSeconds) * 1000),
    labels: parseLabels(labels),
    // A new URL keeps the other fields of a callback.
    ...forEachEvent(event => {
      const { url, stored } = callbacks[event]
      return url.trim() === '' ? null : { ...stored, url: url.trim() }
    }),
  }
}

function forEachEvent<Value>(toValue: (event: CallbackEvent) => Value): Record<CallbackEvent, Value> {
  return { on_success: toValue('on_success'), on_failure: toValue('on_failure'), on_attempt: toValue('on_attempt') }
}
