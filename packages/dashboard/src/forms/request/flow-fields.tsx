import type { Subscription } from '@belfry/contract/subscription'
import { useQuery } from '@tanstack/react-query'
import { type ComponentProps, type ReactNode, useState } from 'react'
import { allOf } from '../../api/queries.ts'
import { useWorkspace } from '../../session/scope.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import { draftInput } from '../draft-input.ts'
import { type FieldErrors, messagesIn } from '../form.tsx'
import { checkCallbacks, checkQueue } from './check-request.ts'
import { FoldedFields } from './folded-fields.tsx'
import { checkLabels, parseLabels } from './labels.ts'
import styles from './request.module.css'
import { type CallbackDrafts, callbackBodies, callbackDrafts, callbackEvents } from './request-draft.ts'

export type FlowBody = ReturnType<typeof flowBodyOf>

/** The queue, the connection, the deadline, the labels and the callbacks of the tasks of an event, a subscription or a cron job. */
export type FlowDraft = ControlDraft & {
  queue: string
  connection: string
  callbacks: CallbackDrafts
}

/** The deadline and the labels. */
export type ControlDraft = { maxAgeSeconds: string; labels: string }

export function controlDraftOf(
  stored?: Pick<Subscription, keyof ReturnType<typeof controlBodyOf>> | null,
): ControlDraft {
  const { max_age_ms: maxAgeMs = null, labels = [] } = stored ?? {}
  return { maxAgeSeconds: maxAgeMs === null ? '' : String(maxAgeMs / 1000), labels: labels.join(' ') }
}

export function flowDraftOf(stored?: Pick<Subscription, keyof FlowBody> | null): FlowDraft {
  return {
    queue: stored?.queue ?? '',
    connection: stored?.connection ?? '',
    ...controlDraftOf(stored),
    callbacks: callbackDrafts(stored ?? undefined),
  }
}

type FlowFieldsProps = {
  draft: FlowDraft
  onChange(change: Partial<FlowDraft>): void
}

/** These fields, folded unless one of them is set at first. */
export function FlowFields({ draft, onChange }: FlowFieldsProps): ReactNode {
  const [isUsed] = useState(() => JSON.stringify(draft) !== JSON.stringify(flowDraftOf()))
  return (
    <FoldedFields summary="Connection, queue, deadline, labels and callbacks" isOpenAtFirst={isUsed}>
      <ConnectionField value={draft.connection} onChange={connection => onChange({ connection })} />
      <QueueField draft={draft} onChange={onChange} />
      <MaxAgeField draft={draft} onChange={onChange} />
      <LabelsField draft={draft} onChange={onChange} />
      <CallbackFields draft={draft} onChange={onChange} />
    </FoldedFields>
  )
}

type ConnectionFieldProps = {
  /** The name of the connection, or empty. */
  value: string
  onChange(name: string): void
}

export function ConnectionField({ value, onChange }: ConnectionFieldProps): ReactNode {
  const { workspace } = useWorkspace()
  const { data = [] } = useQuery(allOf('listConnections', { ws: workspace.id }))
  // A connection that was deleted stays selected until the user chooses another one.
  const names = new Set([...(value === '' ? [] : [value]), ...data.map(({ name }) => name)])
  return (
    <SelectField
      label="Connection"
      isOptional
      hint="Authenticates the calls. Create connections in the settings."
      name="connection"
      value={value}
      onChange={event => onChange(event.target.value)}
      options={[{ value: '', label: 'None' }, ...names]}
    />
  )
}

const callbackLabels = { on_success: 'On success', on_failure: 'On failure', on_attempt: 'After each run' }

type CallbackFieldsProps = {
  draft: Pick<FlowDraft, 'callbacks'>
  onChange(change: Pick<FlowDraft, 'callbacks'>): void
}

/** Fields for the URLs that receive the outcome of a task. */
export function CallbackFields({ draft: { callbacks }, onChange }: CallbackFieldsProps): ReactNode {
  return (
    <>
      <p className={styles.faint}>Belfry sends the result to these URLs.</p>
      {callbackEvents.map(event => (
        <TextField
          key={event}
          label={callbackLabels[event]}
          isOptional
          name={`${event}.url`}
          type="url"
          isMono
          value={callbacks[event].url}
          onChange={({ target }) =>
            onChange({ callbacks: { ...callbacks, [event]: { ...callbacks[event], url: target.value } } })
          }
          placeholder="https://example.com/hooks/done"
          autoComplete="off"
          list="secrets"
        />
      ))}
    </>
  )
}

type Field = 'queue' | 'maxAgeSeconds' | 'labels'

function fieldOf<Name extends Field>(key: Name, look: ComponentProps<typeof TextField>) {
  type PartProps = { draft: Pick<FlowDraft, Name>; onChange(change: Pick<FlowDraft, Name>): void }
  return ({ draft, onChange }: PartProps): ReactNode => (
    <TextField {...look} isOptional autoComplete="off" {...draftInput(draft, key, onChange)} />
  )
}

export const QueueField = fieldOf('queue', { label: 'Queue', name: 'queue', isMono: true })

export const MaxAgeField = fieldOf('maxAgeSeconds', {
  label: 'Maximum age (s)',
  hint: "Give up if a run can't start within this time.",
  name: 'max_age_ms',
  inputMode: 'decimal',
})

export const LabelsField = fieldOf('labels', {
  label: 'Labels',
  hint: 'Up to 10, separated by spaces.',
  name: 'labels',
  placeholder: 'customer:42 import',
})

const maxAgeSeconds = 14 * 86_400

export function checkFlow(draft: FlowDraft): FieldErrors {
  return messagesIn({
    queue: checkQueue(draft.queue),
    ...checkControls(draft),
    ...checkCallbacks(draft.callbacks),
  })
}

export function checkControls({ maxAgeSeconds, labels }: ControlDraft) {
  return { max_age_ms: checkMaxAge(maxAgeSeconds), labels: checkLabels(labels) }
}

function checkMaxAge(text: string): string | null {
  if (text.trim() === '') return null
  const seconds = Number(text)
  return seconds >= 1 && seconds <= maxAgeSeconds ? null : 'Enter 1 to 1,209,600 seconds.'
}

/** Converts a draft to fields of a body. Only for a draft that passes `checkFlow`. */
export function flowBodyOf(draft: FlowDraft) {
  return {
    queue: draft.queue.trim() || null,
    connection: draft.connection || null,
    ...controlBodyOf(draft),
    ...callbackBodies(draft.callbacks),
  }
}

/** Converts a draft to fields of a body. Only for a draft that passes `checkControls`. */
export function controlBodyOf({ maxAgeSeconds, labels }: ControlDraft) {
  const maxAgeMs = maxAgeSeconds.trim() === '' ? null : Math.round(Number(maxAgeSeconds) * 1000)
  return { max_age_ms: maxAgeMs, labels: parseLabels(labels) }
}
