import type { Subscription } from '@belfry/contract/subscription'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { type ComponentProps, type ReactNode, useState } from 'react'
import { allOf, pagesOf } from '../../api/queries.ts'
import { useRefusal, useWorkspace } from '../../session/scope.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import { type DraftProps, draftInput } from '../draft-input.ts'
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

/** These fields, folded unless one of them is set at first. */
export function FlowFields({ draft, onChange }: DraftProps<FlowDraft>): ReactNode {
  const [isUsed] = useState(() => JSON.stringify(draft) !== JSON.stringify(flowDraftOf()))
  return (
    <FoldedFields summary="Connection, queue, deadline, labels and callbacks" isOpenAtFirst={isUsed}>
      <ConnectionField draft={draft} onChange={onChange} />
      <QueueField draft={draft} onChange={onChange} />
      <MaxAgeField draft={draft} onChange={onChange} />
      <LabelsField draft={draft} onChange={onChange} />
      <CallbackFields draft={draft} onChange={onChange} />
      <SecretOptions />
    </FoldedFields>
  )
}

/** Offers the secrets of the workspace to inputs with `list="secrets"`. */
export function SecretOptions(): ReactNode {
  const { workspace } = useWorkspace()
  const mayRead = useRefusal('secret.read') === null
  const { data } = useInfiniteQuery({ ...pagesOf('listSecrets', { ws: workspace.id }), enabled: mayRead })
  return (
    <datalist id="secrets">
      {data?.items.map(({ name }) => (
        <option key={name} value={`{{ secrets.${name} }}`} />
      ))}
    </datalist>
  )
}

export function ConnectionField({ draft, onChange }: DraftProps<Pick<FlowDraft, 'connection'>>): ReactNode {
  const { workspace } = useWorkspace()
  const { data = [] } = useQuery(allOf('listConnections', { ws: workspace.id }))
  // A connection that was deleted stays selected until the user chooses another one.
  const names = new Set([draft.connection, ...data.map(({ name }) => name)].filter(Boolean))
  return (
    <SelectField
      label="Connection"
      isOptional
      hint="Authenticates the calls. Create connections in the settings."
      name="connection"
      {...draftInput(draft, 'connection', onChange)}
      options={[{ value: '', label: 'None' }, ...names]}
    />
  )
}

const callbackLabels = { on_success: 'On success', on_failure: 'On failure', on_attempt: 'After each run' }

/** Fields for the URLs that receive the outcome of a task. */
export function CallbackFields({ draft, onChange }: DraftProps<Pick<FlowDraft, 'callbacks'>>): ReactNode {
  const { callbacks } = draft
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
          list="secrets"
        />
      ))}
    </>
  )
}

type Field = 'queue' | 'maxAgeSeconds' | 'labels'

function fieldOf<Name extends Field>(key: Name, look: ComponentProps<typeof TextField>) {
  return ({ draft, onChange }: DraftProps<Pick<FlowDraft, Name>>): ReactNode => (
    <TextField {...look} isOptional {...draftInput(draft, key, onChange)} />
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
