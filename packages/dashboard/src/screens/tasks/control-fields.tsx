import type { Task } from '@belfry/contract/task'
import type { ReactNode } from 'react'
import type { NewTask } from '../../api/tasks.ts'
import { LabelsField } from '../../forms/request/flow-fields.tsx'
import { checkLabels, labelsText, parseLabels } from '../../forms/request/labels.ts'
import { FormCard } from '../../forms/request/request-form.tsx'
import type { FieldErrors } from '../../forms/use-form.ts'
import { parseWhen } from '../../forms/when/parse-when.ts'
import { type WhenDraft, WhenField } from '../../forms/when/when-field.tsx'
import { wallText } from '../../forms/when/zoned-time.ts'
import { Field, optionsOf, Select, TextInput } from '../../ui/field.tsx'
import { viewerZone } from '../../ui/format-time.ts'

/** The deadline, the key and the labels of a task in its form. */
export type ControlsDraft = { expires: WhenDraft; key: string; onConflict: string; labels: string }

/** @param isCopy - A copy of a task has neither its deadline nor its key. */
export function controlsDraftOf(task: Task | undefined, isCopy: boolean): ControlsDraft {
  const expires = task?.expires_at && !isCopy ? wallText(new Date(task.expires_at), viewerZone()) : ''
  return {
    expires: { text: expires, zone: viewerZone() },
    key: '',
    onConflict: 'reject',
    labels: labelsText(task?.labels ?? []),
  }
}

type ControlFieldsProps = {
  draft: ControlsDraft
  errors: FieldErrors
  onChange(change: Partial<ControlsDraft>): void
  /** A task gets its key when it is created. */
  hasKey: boolean
}

export function ControlFields({ draft, errors, onChange, hasKey }: ControlFieldsProps): ReactNode {
  return (
    <FormCard label="Deadline and labels">
      <WhenField
        label="Deadline"
        name="expires_at"
        value={draft.expires}
        onChange={expires => onChange({ expires })}
        error={errors.expires_at}
        isOptional
      />
      <LabelsField draft={draft} errors={errors} onChange={onChange} />
      {hasKey && (
        <>
          <Field label="Key" error={errors.key} isOptional hint="Only one pending task has this key.">
            <TextInput
              name="key"
              value={draft.key}
              maxLength={128}
              onChange={event => onChange({ key: event.target.value })}
              placeholder="reindex:42"
              autoComplete="off"
            />
          </Field>
          {draft.key !== '' && (
            <Field label="If a pending task has this key" error={errors.on_conflict}>
              <Select
                name="on_conflict"
                value={draft.onConflict}
                onChange={event => onChange({ onConflict: event.target.value })}
                options={optionsOf({ reject: 'Show an error', keep: 'Keep that task', replace: 'Replace that task' })}
              />
            </Field>
          )}
        </>
      )}
    </FormCard>
  )
}

export function checkControls(draft: ControlsDraft, executeAt: Date | null): FieldErrors {
  const expires =
    draft.expires.text.trim() === '' ? null : parseWhen(draft.expires.text, draft.expires.zone, new Date())
  const isEarly = expires && 'at' in expires && executeAt && expires.at <= executeAt
  const deadline = expires && 'error' in expires ? expires.error : isEarly ? 'Choose a time after the task.' : null
  const labels = checkLabels(draft.labels)
  return {
    ...(deadline ? { expires_at: deadline } : {}),
    ...(labels ? { labels } : {}),
  }
}

/** Returns the fields of the body. An untouched deadline keeps its milliseconds. */
export function controlsBodyOf(draft: ControlsDraft, task: Task | undefined): Partial<NewTask> {
  const { text, zone } = draft.expires
  const isKept = task?.expires_at && text === wallText(new Date(task.expires_at), zone)
  const expires = text.trim() === '' ? null : parseWhen(text, zone, new Date())
  return {
    expires_at: isKept ? task.expires_at : expires && 'at' in expires ? expires.at.toISOString() : null,
    labels: parseLabels(draft.labels),
    ...(draft.key.trim() === '' ? {} : { key: draft.key.trim(), on_conflict: draft.onConflict }),
  }
}
