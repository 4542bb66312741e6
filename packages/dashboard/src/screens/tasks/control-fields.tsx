import type { Task } from '@belfry/contract'
import type { ReactNode } from 'react'
import type { NewTask } from '../../api/tasks.ts'
import { FormCard } from '../../forms/request/request-form.tsx'
import type { FieldErrors } from '../../forms/use-form.ts'
import { parseWhen } from '../../forms/when/parse-when.ts'
import { type WhenDraft, WhenField } from '../../forms/when/when-field.tsx'
import { wallText } from '../../forms/when/zoned-time.ts'
import { Field, Select, TextInput } from '../../ui/field.tsx'
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
    labels: task?.labels.join(' ') ?? '',
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
      <Field label="Labels" error={errors.labels} isOptional hint="Up to 10, separated by spaces.">
        <TextInput
          name="labels"
          value={draft.labels}
          onChange={event => onChange({ labels: event.target.value })}
          placeholder="customer:42 import"
          autoComplete="off"
        />
      </Field>
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
              >
                <option value="reject">Show an error</option>
                <option value="keep">Keep that task</option>
                <option value="replace">Replace that task</option>
              </Select>
            </Field>
          )}
        </>
      )}
    </FormCard>
  )
}

const labelForm = /^[A-Za-z0-9][A-Za-z0-9._:/=@+-]{0,63}$/
const maxLabels = 10

export function checkControls(draft: ControlsDraft, executeAt: Date | null): FieldErrors {
  const expires =
    draft.expires.text.trim() === '' ? null : parseWhen(draft.expires.text, draft.expires.zone, new Date())
  const isEarly = expires && 'at' in expires && executeAt && expires.at <= executeAt
  const deadline = expires && 'error' in expires ? expires.error : isEarly ? 'Choose a time after the task.' : null
  const labels = labelsOf(draft)
  const wrong = labels.find(label => !labelForm.test(label))
  return {
    ...(deadline ? { expires_at: deadline } : {}),
    ...(labels.length > maxLabels ? { labels: `Use at most ${maxLabels} labels.` } : {}),
    ...(wrong ? { labels: `“${wrong}” may have letters, digits and . _ : / = @ + -, at most 64 of them.` } : {}),
  }
}

/** Returns the fields of the body. An untouched deadline keeps its milliseconds. */
export function controlsBodyOf(draft: ControlsDraft, task: Task | undefined): Partial<NewTask> {
  const { text, zone } = draft.expires
  const isKept = task?.expires_at && text === wallText(new Date(task.expires_at), zone)
  const expires = text.trim() === '' ? null : parseWhen(text, zone, new Date())
  return {
    expires_at: isKept ? task.expires_at : expires && 'at' in expires ? expires.at.toISOString() : null,
    labels: labelsOf(draft),
    ...(draft.key.trim() === '' ? {} : { key: draft.key.trim(), on_conflict: draft.onConflict }),
  }
}

function labelsOf({ labels }: ControlsDraft): string[] {
  return [...new Set(labels.split(/[\s,]+/).filter(Boolean))]
}
