import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { type ComponentProps, useState } from 'react'
import { allOf, pagesOf } from '../../api/queries.ts'
import { useRefusal, useWorkspace } from '../../session/scope.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import { type DraftProps, draftInput } from '../draft-input.ts'
import { callbackEvents, type FlowDraft, flowDraftOf } from './flow-draft.ts'
import { FoldedFields } from './folded-fields.tsx'
import styles from './request.module.css'

/** The fields of events and subscriptions, folded unless one of them is set at first. */
export function FlowFields({ draft, onChange }: DraftProps<FlowDraft>) {
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
export function SecretOptions() {
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

export function ConnectionField({ draft, onChange }: DraftProps<Pick<FlowDraft, 'connection'>>) {
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
export function CallbackFields({ draft, onChange }: DraftProps<Pick<FlowDraft, 'callbacks'>>) {
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
  return ({ draft, onChange }: DraftProps<Pick<FlowDraft, Name>>) => (
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
