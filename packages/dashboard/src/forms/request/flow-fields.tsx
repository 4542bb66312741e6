import { type ReactNode, useState } from 'react'
import type { FlowBody } from '../../api/tasks.ts'
import { Field, TextInput } from '../../ui/field.tsx'
import type { FieldErrors } from '../use-form.ts'
import { CallbackFields } from './callback-fields.tsx'
import { checkCallbacks, checkQueue } from './check-request.ts'
import { ConnectionField } from './connection-field.tsx'
import { FoldedFields } from './folded-fields.tsx'
import { checkLabels, labelsText, parseLabels } from './labels.ts'
import { type CallbackDrafts, callbackBodies, callbackDrafts } from './request-draft.ts'

/** The queue, the connection, the deadline, the labels and the callbacks of the tasks of an event, a subscription or a cron job. */
export type FlowDraft = {
  queue: string
  connection: string
  maxAgeSeconds: string
  labels: string
  callbacks: CallbackDrafts
}

export function flowDraftOf(stored?: Partial<FlowBody> | null): FlowDraft {
  return {
    queue: stored?.queue ?? '',
    connection: stored?.connection ?? '',
    maxAgeSeconds: secondsText(stored?.max_age_ms),
    labels: labelsText(stored?.labels ?? []),
    callbacks: callbackDrafts(stored ?? undefined),
  }
}

type FlowFieldsProps = {
  draft: FlowDraft
  errors: FieldErrors
  onChange(change: Partial<FlowDraft>): void
}

/** These fields, folded if none of them is set at first. */
export function FlowFields({ draft, errors, onChange }: FlowFieldsProps): ReactNode {
  const [isUsed] = useState(() => JSON.stringify(draft) !== JSON.stringify(flowDraftOf()))
  const hasError = Object.keys(errors).some(name => flowFields.has(name))
  return (
    <FoldedFields
      summary="Connection, queue, deadline, labels and callbacks"
      isOpenAtFirst={isUsed}
      hasError={hasError}
    >
      <ConnectionField
        value={draft.connection}
        error={errors.connection}
        onChange={connection => onChange({ connection })}
      />
      <QueueField draft={draft} errors={errors} onChange={onChange} />
      <MaxAgeField draft={draft} errors={errors} onChange={onChange} />
      <LabelsField draft={draft} errors={errors} onChange={onChange} />
      <CallbackFields draft={draft} errors={errors} onChange={onChange} />
    </FoldedFields>
  )
}

type PartProps<Name extends keyof FlowDraft> = {
  draft: Pick<FlowDraft, Name>
  errors: FieldErrors
  onChange(change: Pick<FlowDraft, Name>): void
}

export function QueueField({ draft, errors, onChange }: PartProps<'queue'>): ReactNode {
  return (
    <Field label="Queue" isOptional error={errors.queue}>
      <TextInput
        name="queue"
        isMono
        autoComplete="off"
        value={draft.queue}
        onChange={event => onChange({ queue: event.target.value })}
      />
    </Field>
  )
}

export function MaxAgeField({ draft, errors, onChange }: PartProps<'maxAgeSeconds'>): ReactNode {
  return (
    <Field
      label="Maximum age (s)"
      isOptional
      error={errors.max_age_ms}
      hint="No attempt starts later than this after the time of a task."
    >
      <TextInput
        name="max_age_ms"
        inputMode="decimal"
        autoComplete="off"
        value={draft.maxAgeSeconds}
        onChange={event => onChange({ maxAgeSeconds: event.target.value })}
      />
    </Field>
  )
}

export function LabelsField({ draft, errors, onChange }: PartProps<'labels'>): ReactNode {
  return (
    <Field label="Labels" error={errors.labels} isOptional hint="Up to 10, separated by spaces.">
      <TextInput
        name="labels"
        value={draft.labels}
        onChange={event => onChange({ labels: event.target.value })}
        placeholder="customer:42 import"
        autoComplete="off"
      />
    </Field>
  )
}

const flowFields = new Set([
  ...['queue', 'connection', 'max_age_ms', 'labels'],
  ...['on_success.url', 'on_failure.url', 'on_attempt.url'],
])
const maxAgeSeconds = 14 * 86_400

export function checkFlow(draft: FlowDraft): FieldErrors {
  const found = {
    queue: checkQueue(draft.queue),
    max_age_ms: checkMaxAge(draft.maxAgeSeconds),
    labels: checkLabels(draft.labels),
    ...checkCallbacks(draft.callbacks),
  }
  return Object.fromEntries(Object.entries(found).flatMap(([name, message]) => (message ? [[name, message]] : [])))
}

export function checkMaxAge(text: string): string | null {
  if (text.trim() === '') return null
  const seconds = Number(text)
  return seconds >= 1 && seconds <= maxAgeSeconds ? null : 'Enter 1 to 1,209,600 seconds.'
}

/** Converts a draft to fields of a body. Only for a draft in which `checkFlow` finds no error. */
export function flowBodyOf(draft: FlowDraft): FlowBody {
  return {
    queue: draft.queue.trim() || null,
    connection: draft.connection || null,
    max_age_ms: maxAgeMs(draft.maxAgeSeconds),
    labels: parseLabels(draft.labels),
    ...callbackBodies(draft.callbacks),
  }
}

export function maxAgeMs(text: string): number | null {
  return text.trim() === '' ? null : Math.round(Number(text) * 1000)
}

export function secondsText(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? '' : String(ms / 1000)
}
