import { type ReactNode, useState } from 'react'
import { TextField } from '../../ui/field.tsx'
import { type Draft, draftFor } from '../body-model.ts'
import { draftInput } from '../draft-input.ts'
import { CallbackFields } from './callback-fields.tsx'
import { ConnectionField } from './connection-field.tsx'
import { FoldedFields } from './folded-fields.tsx'
import { flowModel } from './request-draft.ts'

/** The queue, the connection, the deadline, the labels and the callbacks of the tasks of an event, a subscription or a cron job. */
export type FlowDraft = Draft<typeof flowModel>

type FlowFieldsProps = {
  draft: FlowDraft
  onChange(change: Partial<FlowDraft>): void
}

/** These fields, folded if none of them is set at first. */
export function FlowFields({ draft, onChange }: FlowFieldsProps): ReactNode {
  const [isUsed] = useState(() => JSON.stringify(draft) !== JSON.stringify(draftFor(flowModel)))
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

type PartProps<Name extends keyof FlowDraft> = {
  draft: Pick<FlowDraft, Name>
  onChange(change: Pick<FlowDraft, Name>): void
}

export function QueueField({ draft, onChange }: PartProps<'queue'>): ReactNode {
  return (
    <TextField
      label="Queue"
      isOptional
      name="queue"
      isMono
      autoComplete="off"
      {...draftInput(draft, 'queue', onChange)}
    />
  )
}

export function MaxAgeField({ draft, onChange }: PartProps<'max_age_ms'>): ReactNode {
  return (
    <TextField
      label="Maximum age (s)"
      isOptional
      hint="No attempt starts later than this after the time of a task."
      name="max_age_ms"
      inputMode="decimal"
      autoComplete="off"
      {...draftInput(draft, 'max_age_ms', onChange)}
    />
  )
}

export function LabelsField({ draft, onChange }: PartProps<'labels'>): ReactNode {
  return (
    <TextField
      label="Labels"
      isOptional
      hint="Up to 10, separated by spaces."
      name="labels"
      {...draftInput(draft, 'labels', onChange)}
      placeholder="customer:42 import"
      autoComplete="off"
    />
  )
}
